/** The path of a data request: round, reports, decision, simulation, transaction. */

import { setTimeout as delay } from "node:timers/promises";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { agreedValue, encodeUpdate } from "@dataset-oracle/protocol/update";
import type { DataAnswer } from "@dataset-oracle/protocol/wire";
import type { ProblemError } from "@dataset-oracle/service/problem";
import { toAnswer, toUnsentTransaction } from "./answer.js";
import { broadcast, type Payer, storedByAnother, toCall, type UpdateCall } from "./broadcast.js";
import { simulateUpdate } from "./chain/simulate.js";
import { msUntilRoundAfter, roundAt } from "./clock.js";
import { freshAnswer } from "./fresh.js";
import { FeedGasSpent } from "./gas-budget.js";
import { askableOf, type Carried, type Operator, type StaleUpdate, type Unsent, type Update } from "./operator.js";
import { noQuorum, staleRound, unknownKey, updateReverted } from "./problems.js";
import { Progress, type ProgressListener } from "./progress.js";
import type { ProviderAnswer } from "./reports/ask.js";
import { decide } from "./reports/decide.js";
import { gatherReports } from "./reports/gather.js";
import { following, type Shared } from "./shared-work.js";
import { pointId, subjectOf, type Target, workId } from "./target.js";

/** How often a caller's own transaction is tried again when other carriers are faster. */
const ROUNDS_TRIED = 3;
const MAX_ROUND_WAIT_MS = 3_000;

/**
 * Updates a data point by a transaction of the operator's. All who ask in one round share it.
 *
 * @param waitMs How long to wait until it is mined; 0 answers when the RPC has accepted it.
 */
export async function broadcastUpdate(
  operator: Operator,
  target: Target,
  waitMs: number,
  listener: ProgressListener,
): Promise<DataAnswer> {
  const round = roundAt(operator.clock());
  const fresh = await freshAnswer(operator, target, round);
  if (fresh !== null) return fresh;
  const work = carryRound(operator, target, round, "request");
  const answer = following(work, listener, async (carried) => {
    const mined = await carried.mined(waitMs);
    if (mined === null) return carried.answer;
    if (!mined.isReverted) return mined.answer;
    // Another carrier's update came first in the block.
    const stored = await storedByAnother(target);
    if (stored.answer.timestamp < Number(round)) throw updateReverted(null);
    return stored.answer;
  });
  return answer.catch((error: unknown) => {
    // A feed had begun it, and requests have a budget of their own.
    if (error instanceof FeedGasSpent) return broadcastUpdate(operator, target, waitMs, listener);
    throw error;
  });
}

/**
 * Carries a round of a data point to the chain. All who ask for it share it.
 *
 * @param payer Whose gas budget pays.
 * @param batched What a batch has carried; null when this one has to go by itself.
 */
export function carryRound(
  operator: Operator,
  target: Target,
  round: bigint,
  payer: Payer,
  batched: Promise<Carried | null> = Promise.resolve(null),
): Shared<Carried> {
  return operator.broadcasts.run(workId(target, round), async (progress) => {
    const carried = await batched;
    if (carried !== null) return carried;
    const update = await readyUpdate(operator, target, round, progress);
    if (update.kind === "stale") return storedByAnother(target);
    return broadcast(operator, target, update, () => newestCall(operator, target), payer, progress);
  });
}

/** The update of the newest round, ready to be sent; null when the chain has it or a newer one. */
export async function newestCall(operator: Operator, target: Target): Promise<UpdateCall | null> {
  const update = await readyUpdate(operator, target, roundAt(operator.clock()), new Progress());
  return update.kind === "stale" ? null : toCall(target, update);
}

/** Makes an update transaction that the caller sends. All who ask in one round share it. */
export async function prepareUpdate(
  operator: Operator,
  target: Target,
  listener: ProgressListener,
): Promise<DataAnswer> {
  for (let tried = 1; ; tried++) {
    const round = roundAt(operator.clock());
    const unsent = await prepareRound(operator, target, round, listener);
    if (unsent.kind === "ready") return unsent.answer;
    // The transaction must be usable, so it is of a round that is still newer than what is stored.
    if (tried === ROUNDS_TRIED) throw staleRound(unsent.stored);
    const wait = msUntilRoundAfter(unsent.stored, operator.clock());
    await delay(Math.min(wait, MAX_ROUND_WAIT_MS), undefined, { signal: operator.closing }).catch(() => {
      throw staleRound(unsent.stored);
    });
  }
}

async function prepareRound(
  operator: Operator,
  target: Target,
  round: bigint,
  listener: ProgressListener,
): Promise<Unsent> {
  const before = overtakenBy(operator, target, round);
  if (before !== null) return before;
  const work = operator.unsent.run(workId(target, round), async (progress) => {
    const update = await readyUpdate(operator, target, round, progress);
    if (update.kind === "stale") return update;
    return { kind: "ready", answer: { ...toAnswer(target, update), transaction: toUnsentTransaction(target, update) } };
  });
  return following(work, listener, async (unsent) => overtakenBy(operator, target, round) ?? unsent);
}

/** A broadcast of this round or a newer one that runs, or is done: the caller's own transaction would come too late. */
function overtakenBy({ broadcasts, clock }: Operator, target: Target, round: bigint): StaleUpdate | null {
  for (let newest = roundAt(clock()); newest >= round; newest--) {
    if (broadcasts.has(workId(target, newest))) return { kind: "stale", stored: newest };
  }
  return null;
}

/** Gathers a round's reports and simulates their update; once more if the committee has changed meanwhile. */
async function readyUpdate(operator: Operator, target: Target, round: bigint, progress: Progress): Promise<Update> {
  if (operator.unknownKeys.has(pointId(target))) throw unknownKey();
  const { committee } = target.dataset;
  const seen = committee.current;
  const first = await tryUpdate(operator, target, round, seen, progress);
  if (first.kind !== "refused") return first;
  // What went wrong with the reports is worth more to the caller than an RPC error here.
  const isReplaced = await committee.hasReplaced(seen).catch(() => false);
  if (!isReplaced) throw first.problem;
  const second = await tryUpdate(operator, target, round, committee.current, progress);
  if (second.kind === "refused") throw second.problem;
  return second;
}

async function tryUpdate(
  operator: Operator,
  target: Target,
  round: bigint,
  committee: Committee,
  progress: Progress,
): Promise<Update | { readonly kind: "refused"; readonly problem: ProblemError }> {
  const { network, dataset } = target;
  const members = committee.members.length;
  const id = `${workId(target, round)} ${committeeHash(committee)}`;
  const answers = await gather(operator, target, round, committee, id, progress);
  const decision = decide(members, answers);
  if (decision.kind !== "update") {
    operator.gatherings.forget(id);
    if (decision.kind === "no_quorum") return { kind: "refused", problem: noQuorum(members, answers) };
    operator.unknownKeys.add(pointId(target));
    throw unknownKey(answers);
  }
  const { outcome, reports } = decision;
  const data = encodeUpdate(dataset.kind, subjectOf(target, round), committee, outcome, reports);
  const simulation = await simulateUpdate(network.rpc, dataset.address, outcome, data);
  if (simulation.kind === "refused") operator.gatherings.forget(id);
  if (simulation.kind !== "ok") return simulation;
  const { status, gasLimit } = simulation;
  const value =
    status === "OK"
      ? agreedValue(
          dataset.kind,
          reports.map((report) => report.value),
        )
      : ZERO_VALUE;
  return { kind: "ready", status, value, timestamp: round, reports, data, gasLimit };
}

async function gather(
  operator: Operator,
  target: Target,
  round: bigint,
  committee: Committee,
  id: string,
  progress: Progress,
): Promise<readonly ProviderAnswer[]> {
  const question = { subject: subjectOf(target, round), maxValue: target.dataset.maxValue };
  const askable = askableOf(operator, target.network, committee);
  const work = operator.gatherings.run(id, (gathering) => gatherReports(question, askable, gathering));
  return following(
    work,
    (event) => progress.emit(event),
    async (answers) => answers,
  );
}
