import type { DataRequestProblem } from "@dataset-oracle/protocol";

const YOURSELF = "Choose to send the transaction yourself: that needs nothing of the operator but the reports.";
const SOON = "Nothing was changed. Try again in a few seconds.";

/** What to do about a problem, where the page knows more than the operator says. */
const ADVICE: Readonly<Partial<Record<DataRequestProblem["code"], string>>> = {
  no_such_path: "The page and the operator do not fit each other. Load the page again.",
  unknown_network: "The operator has stopped to serve this network. Load the page again.",
  unknown_dataset: "The operator has stopped to serve this dataset. Load the page again.",
  unknown_key:
    "No gas was spent. Choose one of the listed keys; a Web Oracle key needs its request spec published first.",
  broadcast_unavailable: YOURSELF,
  too_many_broadcasts: YOURSELF,
  too_many_requests: "Others are to be served, too.",
  gas_budget_spent: `The operator spends no more gas on requests for now. ${YOURSELF}`,
  internal_error: "It is the operator's fault, and in its log. Try again.",
  rpc_failed: "The operator's connection to the chain is in trouble. Try again in a few seconds.",
  rpc_timeout:
    "The operator's connection to the chain is slow. An update may be on its way all the same: look at the age above.",
  no_quorum: "More than two thirds of the providers must sign. Nothing was sent. Try again in a few seconds.",
  update_reverted: SOON,
  out_of_funds: `The operator's account cannot pay. ${YOURSELF}`,
  fees_too_high: `Gas costs more than the operator pays. ${YOURSELF}`,
  not_ready: SOON,
  shutting_down: SOON,
  unreachable: "The operator does not answer. Check your connection, and try again.",
  timeout: "An update may be on its way all the same: look at the age above.",
};

export const adviceOn = (problem: DataRequestProblem) => ADVICE[problem.code] ?? problem.detail;
