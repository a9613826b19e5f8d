/** The path of a data request: round, reports, decision, simulation, transaction. */

import { setTimeout as delay } from "node:timers/promises";
import { encodeUpdate, storedValue } from "@dataset-oracle/protocol/update";
import type { DataAnswer } from "@dataset-oracle/protocol/wire";
import type { ProblemError } from "@dataset-oracle/service/problem";
import type { StoredCommittee } from "../chain/dataset.js";
import { msUntilRoundAfter, roundAt } from "../clock.js";
import { type DataPoint, reportHeaderOf, workId } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import { askableOf, type Operator, type Relayed, type StaleUpdate, type Unsent, type Update } from "../operator.js";
import { noQuorum, staleRound, unknownKey } from "../problems.js";
import { type Caller, Progress } from "../progress.js";
import { type Flight, following } from "../single-flight.js";
import { toAnswer, toUnsentTransaction } from "./answer.js";
import { decide } from "./decide.js";
import { freshAnswer } from "./fresh.js";
import { gatherReports } from "./gather.js";
import { answerAfter, broadcast, type Payer, storedByAnother, toCall, type UpdateCall } from "./relay.js";
import { simulateUpdate } from "./simulate.js";

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
  dataPoint: DataPoint,
  waitMs: number,
  caller: Caller,
): Promise<DataAnswer> {
  const round = roundAt(operator.clock());
  const fresh = await freshAnswer(operator, dataPoint, round);
  if (fresh !== null) return fresh;
  const work = relayRound(operator, dataPoint, round, "request", caller);
  const answer = following(work, caller.listener, (relayed) => answerAfter(relayed, dataPoint, round, waitMs));
  return answer.catch((error: unknown) => {
    // A feed had begun it, and requests have a budget of their own.
    if (error instanceof FeedGasSpent) return broadcastUpdate(operator, dataPoint, waitMs, caller);
    throw error;
  });
}

/**
 * Carries a round of a data point to the chain. All who ask for it share it.
 *
 * @param payer Whose gas budget pays.
 * @param batched What a batch has relayed; null when this one has to go by itself.
 */
export function relayRound(
  operator: Operator,
  dataPoint: DataPoint,
  round: bigint,
  payer: Payer,
  caller: Pick<Caller, "trace">,
  batched: Promise<Relayed | null> = Promise.resolve(null),
): Flight<Relayed> {
  const relay = async (progress: Progress) => {
    const relayed = await batched;
    if (relayed !== null) return relayed;
    const update = await readyUpdate(operator, dataPoint, round, progress);
    if (update.kind === "stale") return storedByAnother(dataPoint);
    return broadcast(operator, dataPoint, update, () => newestCall(operator, dataPoint), payer, progress);
  };
  return operator.broadcasts.run(workId(dataPoint, round), relay, caller.trace);
}

/** The update of the newest round, ready to be sent; null when the chain has it or a newer one. */
export async function newestCall(operator: Operator, dataPoint: DataPoint): Promise<UpdateCall | null> {
  const update = await readyUpdate(operator, dataPoint, roundAt(operator.clock()), new Progress());
  return update.kind === "stale" ? null : toCall(dataPoint, update);
}

/** Makes an update transaction that the caller sends. All who ask in one round share it. */
export async function prepareUpdate(operator: Operator, dataPoint: DataPoint, caller: Caller): Promise<DataAnswer> {
  for (let tried = 1; ; tried++) {
    const unsent = await prepareRound(operator, dataPoint, roundAt(operator.clock()), caller);
    if (unsent.kind === "ready") return unsent.answer;
    // The transaction must be usable, so it is of a round that is still newer than what is stored.
    if (tried === ROUNDS_TRIED) throw staleRound(unsent.stored);
    const wait = msUntilRoundAfter(unsent.stored, operator.clock());
    await delay(Math.min(wait, MAX_ROUND_WAIT_MS), undefined, { signal: operator.closing }).catch(() => {
      throw staleRound(unsent.stored);
    });
  }
}

/** What is prepared of this round already; null when the caller has to wait for it. */
export function preparedAnswer(operator: Operator, dataPoint: DataPoint): DataAnswer | null {
  const id = workId(dataPoint, roundAt(operator.clock()));
  if (operator.broadcasts.has(id)) return null;
  const unsent = operator.unsent.done(id);
  return unsent?.kind === "ready" ? unsent.answer : null;
}

async function prepareRound(operator: Operator, dataPoint: DataPoint, round: bigint, caller: Caller): Promise<Unsent> {
  const before = overtakenBy(operator, dataPoint, round);
  if (before !== null) return before;
  const prepare = async (progress: Progress): Promise<Unsent> => {
    const update = await readyUpdate(operator, dataPoint, round, progress);
    if (update.kind === "stale") return update;
    return {
      kind: "ready",
      answer: { ...toAnswer(dataPoint, update), transaction: toUnsentTransaction(dataPoint, update) },
    };
  };
  const work = operator.unsent.run(workId(dataPoint, round), prepare, caller.trace);
  return following(work, caller.listener, async (unsent) => overtakenBy(operator, dataPoint, round) ?? unsent);
}

/** A broadcast of this round or a newer one that runs, or is done: the caller's own transaction would come too late. */
function overtakenBy({ broadcasts, clock }: Operator, dataPoint: DataPoint, round: bigint): StaleUpdate | null {
  for (let newest = roundAt(clock()); newest >= round; newest--) {
    if (broadcasts.has(workId(dataPoint, newest))) return { kind: "stale", stored: newest };
  }
  return null;
}

/** Gathers a round's reports and simulates their update; once more if the committee has changed meanwhile. */
async function readyUpdate(
  operator: Operator,
  dataPoint: DataPoint,
  round: bigint,
  progress: Progress,
): Promise<Update> {
  if (operator.unknownKeys.has(dataPoint.id)) throw unknownKey();
  const { committee } = dataPoint.dataset;
  const seen = committee.current;
  const first = await tryUpdate(operator, dataPoint, round, seen, progress);
  if (first.kind !== "refused") return first;
  // What went wrong with the reports is worth more to the caller than an RPC error here.
  const isReplaced = await committee.hasReplaced(seen).catch(() => false);
  if (!isReplaced) throw first.problem;
  const second = await tryUpdate(operator, dataPoint, round, committee.current, progress);
  if (second.kind === "refused") throw second.problem;
  return second;
}

async function tryUpdate(
  operator: Operator,
  dataPoint: DataPoint,
  round: bigint,
  committee: StoredCommittee,
  progress: Progress,
): Promise<Update | { readonly kind: "refused"; readonly problem: ProblemError }> {
  const { network, dataset } = dataPoint;
  const { kind, digests, maxValue } = dataset;
  const header = reportHeaderOf(dataPoint, round);
  const id = `${workId(dataPoint, round)} ${committee.hash}`;
  const askable = askableOf(operator, network, committee);
  const ask = (gathering: Progress) =>
    gatherReports({ header, digest: digests.of(header), maxValue }, askable, gathering);
  const gathering = operator.gatherings.run(id, ask, progress.trace);
  const answers = await following(
    gathering,
    (step) => progress.emit(step),
    async (all) => all,
  );

  const members = committee.members.length;
  const decision = decide(members, answers);
  if (decision.kind !== "update") {
    operator.gatherings.forget(id);
    if (decision.kind === "no_quorum") return { kind: "refused", problem: noQuorum(members, answers) };
    operator.unknownKeys.add(dataPoint.id);
    throw unknownKey(answers);
  }
  const { outcome, reports } = decision;
  const data = encodeUpdate(kind, header, committee, outcome, reports);
  const simulation = await simulateUpdate(network, dataset.address, outcome, data);
  if (simulation.kind === "refused") operator.gatherings.forget(id);
  if (simulation.kind !== "ok") return simulation;
  const { status, gasLimit } = simulation;
  const value = storedValue(kind, status, reports);
  return { kind: "ready", status, value, timestamp: round, reports, data, gasLimit };
}
