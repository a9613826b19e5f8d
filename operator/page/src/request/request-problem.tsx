import { Notice } from "../components/notice";
import type { RequestEnd, RequestFailure } from "./run-request";

const YOURSELF = "You can send the transaction yourself: the operator then only collects the reports.";

/** Advice on problems for which the page knows more than the operator says. */
const ADVICE: Readonly<Partial<Record<RequestFailure["code"], string>>> = {
  no_such_path: "The page and the operator have different versions. Reload the page.",
  unknown_network: "The operator no longer serves this network. Reload the page.",
  unknown_dataset: "The operator no longer serves this dataset. Reload the page.",
  unknown_key: "No gas was spent. Choose one of the listed keys. A Web Oracle key needs a published request spec.",
  broadcast_unavailable: YOURSELF,
  too_many_broadcasts: YOURSELF,
  too_many_requests: "You have reached this operator's rate limit.",
  gas_budget_spent: YOURSELF,
  internal_error: "The operator failed unexpectedly and has logged the cause. Try again.",
  rpc_failed: "The operator's connection to the chain is failing. Try again in a few seconds.",
  rpc_timeout:
    "The operator's connection to the chain is slow. An update may still be on its way: check the age above.",
  no_quorum: "More than two thirds of the providers must sign. Nothing was sent. Try again in a few seconds.",
  out_of_funds: `The operator's account has too little Ether. ${YOURSELF}`,
  fees_too_high: `Gas is more expensive than the operator's limit. ${YOURSELF}`,
  unreachable: "The operator does not answer. Check your connection and try again.",
  timeout: "An update may still be on its way: check the age above.",
};

/** Shows the operator's description of a problem, and the page's advice. */
export function RequestProblem({ problem, retryAfter }: Extract<RequestEnd, { kind: "problem" }>) {
  const failures = "failures" in problem ? (problem.failures ?? []) : [];
  return (
    <Notice title={problem.title} code={problem.code}>
      <p>{ADVICE[problem.code] ?? problem.detail}</p>
      {retryAfter !== null && <p>Try again in {retryAfter} s.</p>}
      <ul>
        {failures.map(({ provider, host, detail }) => (
          <li key={provider}>
            <code>{host ?? provider}</code> {detail}.
          </li>
        ))}
      </ul>
    </Notice>
  );
}
