/** The text of `provider --help`. */
export const USAGE = `Usage: provider COMMAND ...

Signs values that it reads from exchanges and web APIs, and helps those who run a provider or write request specs. In a
clone of this repository: npm run -s provider -- COMMAND ...

  serve --config FILE        answer POST /report with signed values
  check --config FILE        check the configuration, and the files, folders and key that it needs
  try KEY                    ask the sources of a key now, and show their answers; signs nothing
  try SPEC [ARGUMENT...]     the same for a request spec, published or not, which is a JSON file
  validate SPEC              check a request spec
  key SPEC [ARGUMENT...]     print a spec's key in ASCII and in hex
  publish SPEC...            publish request specs on a network, for all of their keys
  announce                   sign the URL of your provider, and announce it in the directory of its network
  replay FILE                compute a value again from its evidence, without a network
  COMMAND --help             describe a command
  --help                     show this text

Example
  provider try SPOTPX/ETH-USD`;

/** The options and the environment of the commands that take a provider's configuration and its key. */
const CONFIG_AND_KEY = `  --config FILE   required: the configuration, in JSON; provider/README.md says where its settings are listed
  --help          show this text

The environment names the signing key: PROVIDER_PRIVATE_KEY_FILE is the path of a file with the key,
PROVIDER_PRIVATE_KEY is the key itself, for development, and PROVIDER_KEYSTORE is the path of an encrypted keystore, with
PROVIDER_KEYSTORE_PASSWORD_FILE or PROVIDER_KEYSTORE_PASSWORD. Set one of the three.

Examples
  provider check --config provider.json
  PROVIDER_PRIVATE_KEY_FILE=provider.key provider serve --config provider.json`;

/** How the environment names the account that pays for transactions. */
const SENDER = `Without --from, the transaction is sent from the account of PUBLISHER_PRIVATE_KEY_FILE,
PUBLISHER_PRIVATE_KEY, or PUBLISHER_KEYSTORE with PUBLISHER_KEYSTORE_PASSWORD_FILE or PUBLISHER_KEYSTORE_PASSWORD.`;

export const SERVE_USAGE = `Usage: provider serve --config FILE

Answers POST /report with signed values that it reads from its sources. It logs JSON to stdout and shuts down cleanly on
SIGTERM.

${CONFIG_AND_KEY}`;

export const CHECK_USAGE = `Usage: provider check --config FILE

Checks a configuration, and the files, folders and signing key that it needs. It connects to nothing, and does not disturb
a provider that runs. The exit code is 0 when everything is valid, and 2 when something must be fixed.

${CONFIG_AND_KEY}`;

/** The most that `--repeat` may ask for. */
export const MAX_REPEAT = 1_000;

export const TRY_USAGE = `Usage: provider try KEY [options]
       provider try SPEC [ARGUMENT...] [options]

Asks the sources of a key or of a request spec now, and shows each answer, whether it is used, and the value. Nothing is
signed or stored.

  KEY            the key of a spot price, such as SPOTPX/ETH-USD, or of the Web Oracle, which needs --config
  SPEC           a request spec, published or not: a JSON file
  ARGUMENT       the values of the spec's variables, in the same order
  --repeat N     ask N times, a second apart, and show how the answers vary, 2 to ${MAX_REPEAT}; Ctrl-C ends it early
  --config FILE  ask as the provider with this configuration does: its sources, limits, secrets, hosts and
                 redirected origins
  --json         print JSON; with --repeat a list, with an item for each time
  --help         show this text

The exit code is 0 when there is a value, 1 when there is none or sources are at their rate limits, and 2 when no source
was asked, for example because the key is not valid.

Examples
  provider try SPOTPX/ETH-USD --config provider.json
  provider try docs/cookbook/reference-rate.json EUR USD --repeat 30`;

export const VALIDATE_USAGE = `Usage: provider validate SPEC

Checks a request spec, and says what its keys and values are. The exit code is 2 when something must be fixed.

  SPEC     the request spec: a JSON file
  --help   show this text

Example
  provider validate docs/cookbook/reference-rate.json`;

export const KEY_USAGE = `Usage: provider key SPEC [ARGUMENT...]

Prints the key of a request spec with these arguments, in ASCII and in hex, and the dataset that it belongs to.

  SPEC       the request spec: a JSON file
  ARGUMENT   the values of the spec's variables, in the same order
  --help     show this text

Example
  provider key docs/cookbook/reference-rate.json EUR USD`;

export const PUBLISH_USAGE = `Usage: provider publish SPEC... --deployment FILE [--rpc-url URL [--from ADDRESS]]

Publishes request specs on a network, one transaction each, and prints their keys and the request for a value. It sends
nothing for a spec that is published already. Without --rpc-url, it prints the transactions and cast commands for them.

  SPEC                a request spec: a JSON file
  --deployment FILE   required: the network's deployments/<chainId>.json
  --rpc-url URL       send the transactions through this JSON-RPC endpoint; in it, \${NAME} stands for a variable
  --from ADDRESS      send from an unlocked account of the endpoint, as development chains have them
  --help              show this text

${SENDER}

Example
  PUBLISHER_PRIVATE_KEY_FILE=publisher.key provider publish spec.json --deployment deployments/1.json \\
    --rpc-url '\${RPC_URL}'`;

export const REPLAY_USAGE = `Usage: provider replay FILE... [--key KEY] [--round TIME] [--json]

Computes values again from their evidence and compares them with the decisions. It reads the decisions, specs and answers
in each FILE, checks the specs and answers against their hashes, and uses no network.

  FILE            a file in the folder that the setting "evidence" names
  --key KEY       only the decisions on this key, for example SPOTPX/ETH-USD
  --round TIME    only the decisions for the round of this time, in seconds since 1970
  --json          print JSON, an object for each decision
  --help          show this text

The exit code is 0 when all values and each source's part in them are the same, 1 when one of them differs, and 2 when
the evidence cannot be used or has no such decision.

Example
  provider replay evidence/spot-prices/*.jsonl --key SPOTPX/ETH-USD --round 1767323040`;

export const ANNOUNCE_USAGE = `Usage: provider announce --rpc-url URL [--deployment FILE] --url URL [--from ADDRESS]
       provider announce --deployment FILE --url URL
       provider announce ... --withdraw

Signs the URL at which your provider answers with the provider's key, for the directory of its network. Anyone may send
the transaction, so the provider's key needs no Ether. Without --rpc-url, it prints the transaction and a cast command
that sends it.

  --rpc-url URL        send the transaction through this JSON-RPC endpoint; in it, \${NAME} stands for a variable
  --deployment FILE    the network's deployments/<chainId>.json (default: the network of the endpoint, and the usual
                       address of the directory, which is the same on every network)
  --url URL            where your provider answers: https on port 443 of a public host, in at most 256 bytes
  --withdraw           announce that the provider has no URL any more, in place of --url
  --from ADDRESS       send from an unlocked account of the endpoint, as development chains have them
  --allow-local        for a development network whose operators set allowLocalProviders: allow http URLs of this machine
  --help               show this text

The announcement is signed with the key that the environment names, as for the provider: PROVIDER_PRIVATE_KEY_FILE or
PROVIDER_KEYSTORE. ${SENDER}

Example
  PROVIDER_PRIVATE_KEY_FILE=provider.key PUBLISHER_PRIVATE_KEY_FILE=publisher.key provider announce \\
    --rpc-url '\${RPC_URL}' --url https://provider.example`;
