/** `operator --help`. */
export const USAGE = `Usage: operator --config FILE [--check-config]

Answers POST /data/request: gathers the data providers' signed reports, and sends them to the dataset or hands the
transaction to the caller. It logs JSON to stdout, and ends cleanly on SIGTERM.

  --config FILE    required: the configuration, in JSON; its settings are in operator/README.md
  --check-config   check the configuration, the files it names and the keys, then end: 0 if all is well, else 2
  --help           this text

Environment
  OPERATOR_KEYSTORE, with OPERATOR_KEYSTORE_PASSWORD_FILE or OPERATOR_KEYSTORE_PASSWORD
                   the path of the encrypted keystore of the account that broadcasts, or of a folder of
                   several, and their password
  OPERATOR_PRIVATE_KEY_FILE, OPERATOR_PRIVATE_KEY
                   its key, or the keys of several with white space between them, in a file or as they are
  OPERATOR_KEYSTORE_<chainId>..., OPERATOR_PRIVATE_KEY_<chainId>...
                   the same for one network only; a network without a key answers only "broadcast": false

Examples
  operator --config operator.json --check-config
  OPERATOR_PRIVATE_KEY_FILE=operator.key operator --config operator.json`;
