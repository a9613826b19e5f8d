/** `provider --help`. */
export const USAGE = `Usage: provider --config FILE [--check-config]
       provider fetch KEY [--config FILE] [--json]
       provider replay FILE [--json]

Signs the values that it reads from its sources, for whoever asks POST /report. It logs JSON to stdout, and ends
cleanly on SIGTERM.

  --config FILE   required: the configuration, in JSON; its settings are in provider/README.md
  --check-config  check all that a start needs, and end
  fetch           ask the sources for a key now, and show what each says; signs nothing
  replay          compute a value again from its evidence, without a network
  --json          of fetch and replay: print JSON also to a terminal
  --help          show this, or what a command takes

The signing key comes from the environment: PROVIDER_PRIVATE_KEY_FILE, the path of a file with it, or
PROVIDER_PRIVATE_KEY, the key itself; or PROVIDER_KEYSTORE, the path of an encrypted keystore, with
PROVIDER_KEYSTORE_PASSWORD_FILE or PROVIDER_KEYSTORE_PASSWORD. fetch and replay need none.

Examples
  provider fetch SPOTPX/ETH-USD
  provider --config provider.json --check-config
  PROVIDER_PRIVATE_KEY_FILE=provider.key provider --config provider.json`;

/** `provider fetch --help`. */
export const FETCH_USAGE = `Usage: provider fetch KEY [--config FILE] [--json]

Asks every source that knows the key, shows what each says and what became of it, and the value. Nothing is signed or
kept.

  KEY             a spot price's key, for example SPOTPX/ETH-USD, or one of the Web Oracle's, which needs --config
  --config FILE   take sources, overrides, secrets, bounds and what the Web Oracle needs from a provider's configuration
  --json          print JSON also to a terminal; elsewhere it is always JSON
  --help          show this

It ends with 0 when there is a value, with 1 when there is none, and with 2 when it cannot be asked for.

Examples
  provider fetch SPOTPX/ETH-USD
  provider fetch SPOTPX/ETH-USD --config provider.json --json`;

/** `provider replay --help`. */
export const REPLAY_USAGE = `Usage: provider replay FILE [--json]

Computes a decision again from its evidence, and compares. It reads FILE and the specs and answers beside it, each of
which must be what its hash says, and uses no network.

  FILE            a decision's file in the folder that the setting "evidence" names
  --json          print JSON also to a terminal; elsewhere it is always JSON
  --help          show this

It ends with 0 when the value is the same, with 1 when it is not, and with 2 when the evidence cannot be used.

Example
  provider replay evidence/decisions/0x….json`;
