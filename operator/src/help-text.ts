import { helpOnAccounts, namesOfAccounts } from "@dataset-oracle/service/keys/find-accounts";
import { OPERATOR } from "./transactions/accounts.js";

/** The text that `operator --help` prints. */
export const USAGE = `Usage: operator --config FILE [--check-config]

Serves POST /data/request: collects signed reports from the data providers, and either sends the update to the dataset or
returns the transaction to the caller. Logs JSON to stdout and shuts down cleanly on SIGTERM.

  --config FILE    required: the configuration, in JSON; operator/README.md says where its settings are listed
  --check-config   check the configuration, the files it names and the keys, then exit: 0 if all are valid, else 2
  --help           show this text

Environment
${helpOnAccounts(OPERATOR)}
  with _<chainId> after KEY, KEYSTORE or URL, ADDRESS, AUTHORIZATION and CA
      the same for one network only; a network without an account serves only "broadcast": false

  Set ${namesOfAccounts(OPERATOR)}.
  It may name several accounts: keys or addresses separated by white space, or a folder of keystores.

Examples
  operator --config operator.json --check-config
  OPERATOR_PRIVATE_KEY_FILE=operator.key operator --config operator.json`;
