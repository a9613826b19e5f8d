import type { DataRequestProblem } from "@dataset-oracle/protocol";
import { TroubleNote } from "../components/trouble-note";
import { adviceOn } from "./advice";

interface Props {
  readonly problem: DataRequestProblem;
  /** In seconds; null if nobody says. */
  readonly retryAfter: number | null;
}

/** Why a request failed, in the operator's words, and what to do in the page's. */
export function ProblemNote({ problem, retryAfter }: Props) {
  const failures = "failures" in problem ? (problem.failures ?? []) : [];
  return (
    <TroubleNote title={problem.title} code={problem.code}>
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
    </TroubleNote>
  );
}
