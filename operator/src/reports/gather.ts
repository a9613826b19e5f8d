import type { Committee } from "@dataset-oracle/protocol/committee";
import type { Address } from "viem";
import type { Progress } from "../progress.js";
import { askProvider, type ProviderAnswer, type Question } from "./ask.js";
import { decide } from "./decide.js";

export interface GatherLimits {
  /** How long each provider may take. */
  readonly timeoutMs: number;
  /** How long the rest is waited for once the answers so far decide. */
  readonly graceMs: number;
}

/**
 * Asks a whole committee at once. When a quorum has answered, the others have a short grace, because every valid report
 * that is held is sent.
 *
 * @returns One answer for each member, in the committee's order.
 */
export async function gatherReports(
  question: Question,
  committee: Committee,
  endpoints: ReadonlyMap<Address, string>,
  limits: GatherLimits,
  progress: Progress,
  signal: AbortSignal,
): Promise<readonly ProviderAnswer[]> {
  const { members } = committee;
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const answers: ProviderAnswer[] = [];
  let grace: NodeJS.Timeout | undefined;
  let valid = 0;

  progress.emit({ event: "asked", data: { timestamp: Number(question.subject.timestamp), providers: [...members] } });
  const inOrder = await Promise.all(
    members.map(async (member) => {
      const answer = await askProvider(question, member, endpoints.get(member), limits.timeoutMs, stop);
      answers.push(answer);
      if (answer.kind === "report") {
        valid += 1;
        const { outcome } = answer;
        progress.emit({ event: "report", data: { provider: member, outcome, received: valid, of: members.length } });
      }
      if (grace === undefined && decide(members.length, answers).kind !== "no_quorum") {
        grace = setTimeout(() => over.abort(), limits.graceMs);
      }
      return answer;
    }),
  );
  clearTimeout(grace);
  return inOrder;
}
