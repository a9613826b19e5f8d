/** The text of `web-oracle --help`. */
export const USAGE = `Usage: web-oracle COMMAND SPEC [ARGUMENT...] [options]

Checks, tries and publishes request specs of the Web Oracle. In this repository: npm run -s web-oracle -- COMMAND

  validate SPEC            check a request spec, which is a JSON file
  try SPEC [ARGUMENT...]   query its sources now, and show each raw answer and its value
  key SPEC [ARGUMENT...]   print the key in ASCII and in hex
  publish SPEC...          publish one or more specs on a network, for all of their keys; sends nothing for a spec that is
                           published already

The arguments are the values of the spec's variables, in the same order.

Options for try:
  --override ORIGIN=URL    for development, like redirectedOrigins: query an http address on this machine instead
                           of an https origin
  --config FILE            query as the provider with this configuration does: its hosts, secrets and redirected origins

Options for publish:
  --deployment FILE        required: the network's deployments/<chainId>.json
  --rpc-url URL            required without --dry-run: a JSON-RPC endpoint of the network
  --from ADDRESS           send from an unlocked account of the endpoint, as development chains have them
  --dry-run                send nothing; print the transaction, and a cast command that sends it

Without --from, publish signs with the key in the file that PUBLISHER_PRIVATE_KEY_FILE names, with the key in
PUBLISHER_PRIVATE_KEY, or with the keystore that PUBLISHER_KEYSTORE names, with PUBLISHER_KEYSTORE_PASSWORD_FILE.

  --help                   this text

Examples
  web-oracle validate docs/cookbook/reference-rate.json
  web-oracle try docs/cookbook/reference-rate.json EUR USD
  web-oracle key docs/cookbook/reference-rate.json EUR USD`;
