/** The text that `operator --help` prints. */
export const USAGE = `Usage: operator --config FILE [--check-config]

Serves POST /data/request: collects signed reports from the data providers, and either sends the update to the dataset or
returns the transaction to the caller. Logs JSON to stdout and shuts down cleanly on SIGTERM.

  --config FILE    required: the configuration, in JSON; operator/README.md says where its settings are listed
  --check-config   check the configuration, the files it names and the keys, then exit: 0 if all are valid, else 2
  --help           show this text

Environment
  OPERATOR_KEYSTORE, with OPERATOR_KEYSTORE_PASSWORD_FILE or OPERATOR_KEYSTORE_PASSWORD
                   path of the encrypted keystore of the account that broadcasts, or of a folder of
                   keystores, and their password
  OPERATOR_PRIVATE_KEY_FILE, OPERATOR_PRIVATE_KEY
                   the private key of that account, or several separated by white space: the path of a
                   file that holds them, or the keys themselves
  OPERATOR_SIGNER_URL, with OPERATOR_SIGNER_ADDRESS
                   instead of a key, the URL of a signer that holds it and speaks JSON-RPC as Web3Signer
                   does, and the address of the account, or several separated by white space
  OPERATOR_SIGNER_AUTHORIZATION_FILE, OPERATOR_SIGNER_CA_FILE
                   paths of files with the Authorization header for the signer, and with the certificate
                   in PEM that signed the signer's
  OPERATOR_KEYSTORE_<chainId>..., OPERATOR_PRIVATE_KEY_<chainId>..., OPERATOR_SIGNER_URL_<chainId>...
                   the same for one network only; a network without a key serves only "broadcast": false

Examples
  operator --config operator.json --check-config
  OPERATOR_PRIVATE_KEY_FILE=operator.key operator --config operator.json`;
