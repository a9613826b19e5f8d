/** The text that `operator --help` prints. */
export const USAGE = `Usage: operator --config FILE [--check-config]

Serves POST /data/request: collects signed reports from the data providers, and either sends the update to the dataset or
returns the transaction to the caller. Logs JSON to stdout and shuts down cleanly on SIGTERM.

  --config FILE    required: the configuration, in JSON; operator/README.md lists its settings
  --check-config   check the configuration, the files it names and the keys, then exit: 0 if all are valid, else 2
  --help           show this text

Environment
  OPERATOR_KEYSTORE, with OPERATOR_KEYSTORE_PASSWORD_FILE or OPERATOR_KEYSTORE_PASSWORD
                   path of the encrypted keystore of the account that broadcasts, or of a folder of
                   keystores, and their password
  OPERATOR_PRIVATE_KEY_FILE, OPERATOR_PRIVATE_KEY
                   the private key of that account, or several separated by white space: the path of a
                   file that holds them, or the keys themselves
  OPERATOR_KEYSTORE_<chainId>..., OPERATOR_PRIVATE_KEY_<chainId>...
                   the same for one network only; a network without a key serves only "broadcast": false

Examples
  operator --config operator.json --check-config
  OPERATOR_PRIVATE_KEY_FILE=operator.key operator --config operator.json`;
