/** `web-oracle --help`. */
export const USAGE = `Usage: web-oracle COMMAND SPEC [ARGUMENT...] [options]

Checks, tries and publishes the request specs of Web Oracle keys. In this repository: npm run -s web-oracle -- COMMAND

  validate SPEC            check a request spec, a file of JSON
  try SPEC [ARGUMENT...]   ask its sources now: each raw answer, and the value that it yields
  key SPEC [ARGUMENT...]   print the key, in ASCII and in hex
  publish SPEC             publish it on a network, for all of its keys

The arguments are the values of the spec's variables, in their order.

Options of try:
  --override ORIGIN=URL    ask a http address on this machine instead of a https origin; for development
  --config FILE            ask as the provider with this configuration: its hosts, secrets and overrides

Options of publish:
  --deployment FILE        required: the network's deployments/<chainId>.json
  --rpc-url URL            required, but for --dry-run: a JSON-RPC endpoint of the network
  --from ADDRESS           send from an account of the endpoint's own, as development chains have them
  --dry-run                send nothing; print the transaction, and a command of cast that sends it

Without --from, publish signs with the key in the file that PUBLISHER_PRIVATE_KEY_FILE names, or in
PUBLISHER_PRIVATE_KEY; or in the encrypted keystore at PUBLISHER_KEYSTORE, with PUBLISHER_KEYSTORE_PASSWORD_FILE.

  --help                   this text

Examples
  web-oracle validate docs/cookbook/reference-rate.json
  web-oracle try docs/cookbook/reference-rate.json EUR USD
  web-oracle key docs/cookbook/reference-rate.json EUR USD`;
