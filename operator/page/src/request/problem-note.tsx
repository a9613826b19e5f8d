import type { DataRequestProblem } from "@dataset-oracle/protocol";
import { Notice } from "../components/notice";
import { adviceOn } from "./advice";

interface Props {
  readonly problem: DataRequestProblem;
  /** In seconds; null if the operator did not say. */
  readonly retryAfter: number | null;
}

/** Shows the operator's description of a problem, and the page's advice. */
export function ProblemNote({ problem, retryAfter }: Props) {
  const failures = "failures" in problem ? (problem.failures ?? []) : [];
  return (
    <Notice title={problem.title} code={problem.code}>
      <p>{adviceOn(problem)}</p>
      {retryAfter !== null && <p>Try again in {retryAfter} s.</p>}
      {failures.length > 0 && (
        <ul class="failures">
          {failures.map(({ provider, host, detail }) => (
            <li key={provider}>
              <code>{host ?? provider}</code> {detail}.
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
