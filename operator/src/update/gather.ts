import type { BatchHeader } from "@dataset-oracle/protocol/batch-report";
import type { Committee } from "@dataset-oracle/protocol/committee";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { traceHeaders } from "@dataset-oracle/service/trace";
import type { Address } from "viem";
import type { Progress } from "../progress.js";
import { askProvider, type ProviderAnswer, type Question } from "./ask.js";
import { askRow, type RowAnswer } from "./ask-row.js";
import { decide } from "./decide.js";
import type { Asked } from "./provider-call.js";

export interface GatherLimits {
  /** How long each provider may take. */
  readonly timeoutMs: number;
  /** How long the rest is waited for once the answers so far decide. */
  readonly graceMs: number;
}

/** A committee, and how its members are asked. */
export interface Askable {
  readonly committee: Committee;
  readonly endpoints: ReadonlyMap<Address, string>;
  readonly limits: GatherLimits;
  /** Ends the asking. */
  readonly signal: AbortSignal;
  readonly observe: Asked["observe"];
}

/**
 * Asks a whole committee for its reports of a data point.
 *
 * @returns One answer for each member, in the committee's order.
 */
export function gatherReports(
  question: Question,
  askable: Askable,
  progress: Progress,
): Promise<readonly ProviderAnswer[]> {
  const { members } = askable.committee;
  progress.emit({ event: "asked", timestamp: Number(question.header.round), providers: [...members] });
  let received = 0;
  const ask = async (asked: Asked) => {
    const answer = await askProvider(question, asked);
    if (answer.kind === "report") {
      received += 1;
      const { provider, outcome } = answer;
      progress.emit({ event: "report", provider, outcome, received, of: members.length });
    }
    return answer;
  };
  const headers = traceHeaders(progress.trace);
  return gather(askable, headers, ask, (answers) => decide(members.length, answers).kind !== "no_quorum");
}

/**
 * Asks a whole committee for its rows of a batch.
 *
 * @returns One answer for each member, in the committee's order.
 */
export function gatherRows(header: BatchHeader, askable: Askable): Promise<readonly RowAnswer[]> {
  const all = askable.committee.members.length;
  const isEnough = (answers: readonly RowAnswer[]) => {
    const rows = answers.filter(({ kind }) => kind === "row").length;
    return isQuorum(rows, all - rows);
  };
  return gather(askable, {}, (asked) => askRow(header, asked), isEnough);
}

/**
 * Asks all at once. When enough have answered, the others have a short grace, because every valid report that is held is
 * sent.
 */
async function gather<A>(
  { committee, endpoints, limits, signal, observe }: Askable,
  headers: Asked["headers"],
  ask: (asked: Asked) => Promise<A>,
  isEnough: (answers: readonly A[]) => boolean,
): Promise<readonly A[]> {
  const over = new AbortController();
  const stop = () => over.abort();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const answers: A[] = [];
  let grace: NodeJS.Timeout | undefined;
  const inOrder = await Promise.all(
    committee.members.map(async (provider) => {
      const endpoint = endpoints.get(provider);
      const answer = await ask({
        provider,
        endpoint,
        headers,
        timeoutMs: limits.timeoutMs,
        signal: over.signal,
        observe,
      });
      answers.push(answer);
      if (grace === undefined && isEnough(answers)) grace = setTimeout(stop, limits.graceMs);
      return answer;
    }),
  );
  clearTimeout(grace);
  signal.removeEventListener("abort", stop);
  return inOrder;
}
