/** The text of `provider --help`. */
export const USAGE = `Usage: provider --config FILE [--check-config]
       provider fetch KEY [--config FILE] [--json]
       provider replay FILE [--json]
       provider announce --rpc-url URL --url URL

Answers POST /report with signed values that it reads from its sources. It logs JSON to stdout and shuts down cleanly
on SIGTERM.

  --config FILE   required: the configuration, in JSON; provider/README.md describes the settings
  --check-config  check the configuration and the files, folders and key that it needs, and exit
  fetch           ask the sources of a key now, and show their answers; signs nothing
  replay          compute a value again from its evidence, without a network
  announce        sign the provider's URL, and announce it in the directory of its network
  --help          show this text, or that of a command

The environment names the signing key: PROVIDER_PRIVATE_KEY_FILE is the path of a file with the key,
PROVIDER_PRIVATE_KEY is the key itself, for development, and PROVIDER_KEYSTORE is the path of an encrypted keystore, with
PROVIDER_KEYSTORE_PASSWORD_FILE or PROVIDER_KEYSTORE_PASSWORD. Set one of the three. fetch and replay need none.

Examples
  provider fetch SPOTPX/ETH-USD
  provider --config provider.json --check-config
  PROVIDER_PRIVATE_KEY_FILE=provider.key provider --config provider.json`;

/** The text of `provider fetch --help`. */
export const FETCH_USAGE = `Usage: provider fetch KEY [--config FILE] [--json]

Asks every source that knows the key now, and shows each answer, whether it is used, and the value. Nothing is
signed or stored.

  KEY             the key of a spot price, such as SPOTPX/ETH-USD, or of the Web Oracle, which needs --config
  --config FILE   take sources, redirected origins, secrets, limits and the Web Oracle's settings from this configuration
  --json          print JSON in a terminal too; elsewhere the output is always JSON
  --help          show this text

The exit code is 0 when there is a value, 1 when there is none or sources are at their rate limits, and 2 when no source
was asked, for example because the key is not valid.

Examples
  provider fetch SPOTPX/ETH-USD
  provider fetch SPOTPX/ETH-USD --config provider.json --json`;

/** The text of `provider replay --help`. */
export const REPLAY_USAGE = `Usage: provider replay FILE [--json]

Computes a value again from its evidence and compares it with the decision. It reads FILE and the specs and answers
beside it, checks them against their hashes, and uses no network.

  FILE            a decision's file in the folder that the setting "evidence" names
  --json          print JSON in a terminal too; elsewhere the output is always JSON
  --help          show this text

The exit code is 0 when the value and each source's part in it are the same, 1 when one of them differs, and 2 when the
evidence cannot be used.

Example
  provider replay evidence/spot-prices/1767322980/1767323040-42-0x….json`;

/** The text of `provider announce --help`. */
export const ANNOUNCE_USAGE = `Usage: provider announce --rpc-url URL [--deployment FILE] --url URL [--from ADDRESS]
       provider announce --deployment FILE --url URL
       provider announce ... --withdraw

Signs the URL at which your provider answers with the provider's key, for the directory of its network. Anyone may send
the transaction, so the provider's key needs no Ether. Without --rpc-url, it prints the transaction and a cast command
that sends it.

  --rpc-url URL        send the transaction through this JSON-RPC endpoint of the network
  --deployment FILE    the network's deployments/<chainId>.json (default: the network of the endpoint, and the usual
                       address of the directory, which is the same on every network)
  --url URL            where your provider answers: https on port 443 of a public host, in at most 256 bytes
  --withdraw           announce that the provider has no URL any more, in place of --url
  --from ADDRESS       send from an unlocked account of the endpoint, as development chains have them
  --allow-local        for a development network whose operators set allowLocalProviders: allow http URLs of this machine
  --help               show this text

The announcement is signed with the key that the environment names, as for the provider: PROVIDER_PRIVATE_KEY_FILE or
PROVIDER_KEYSTORE. Without --from, the transaction is sent from the account of PUBLISHER_PRIVATE_KEY_FILE,
PUBLISHER_PRIVATE_KEY, or PUBLISHER_KEYSTORE with PUBLISHER_KEYSTORE_PASSWORD_FILE.

Example
  PROVIDER_PRIVATE_KEY_FILE=provider.key PUBLISHER_PRIVATE_KEY_FILE=publisher.key provider announce \\
    --rpc-url https://rpc.example --url https://provider.example`;
