import { setTimeout as delay } from "node:timers/promises";
import { storedValue } from "@dataset-oracle/protocol/agreed-value";
import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import type { ForwardedAnswer } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import type { Outcome } from "@dataset-oracle/protocol/report";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { parseValue } from "@dataset-oracle/protocol/value-in-json";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import type { Hex } from "viem";
import { readMined } from "../chain/read-and-send-transactions.js";
import { readStored } from "../chain/stored-values.js";
import type { DataPoint } from "../data-point.js";
import type { Context } from "../process-context.js";
import type { Progress } from "../progress.js";
import type { ReportStatement } from "../statements/statement.js";
import { submitRaw } from "../tx/sign-and-submit.js";
import { toDataAnswer } from "../update/data-answer.js";
import { decideByQuorum } from "../update/quorum-decision.js";
import type { SentUpdate } from "../update/sent-update.js";
import { storedOrPending } from "../update/stored-or-pending.js";
import { MAX_MINING_WAIT_MS } from "../update/wait-until-mined.js";
import type { Node } from "./node-list.js";
import { readSignedTransaction } from "./signed-transaction.js";

/** How far a node's round may be from this node's own, in seconds, because their clocks differ. */
const MAX_SKEW = 2n;

/**
 * Checks the answer of the node that a request was forwarded to, and trusts nothing in it. If the node sent a
 * transaction, it must be the update of a quorum's reports, signed by that node's submitter, and it is submitted to
 * this node's own RPC endpoints, which must accept it. If it sent none, the chain must have a current round.
 *
 * @param round This node's own round, in seconds since 1970.
 * @returns The update, or the reason why the answer cannot be used.
 */
export async function acceptForwardedAnswer(
  context: Context,
  dataPoint: DataPoint,
  node: Node,
  round: bigint,
  { answer, transaction }: ForwardedAnswer,
  progress: Progress,
): Promise<Result<SentUpdate>> {
  const { network, dataset, key } = dataPoint;
  if (transaction === null) return storedSince(dataPoint, round - MAX_SKEW);
  const answered = BigInt(answer.timestamp);
  if (answered < round - MAX_SKEW || answered > round + MAX_SKEW)
    return err(`its round is ${answered}, but the current one is ${round}`);
  const committee = dataset.committee.current;
  const decision = decideByQuorum(committee.members.length, checkReports(dataPoint, answer));
  if (decision.kind !== "update") return err("its reports are not valid or do not form a quorum");
  const { outcome } = decision;
  const data = encodeUpdate(dataset.kind, { key, round: answered }, committee, outcome, decision.reports);
  const signed = readSignedTransaction(transaction as Hex);
  const isUpdate =
    signed?.sender === node.submitter &&
    signed.chainId === network.chainId &&
    signed.to === dataset.address &&
    signed.data === data;
  if (!isUpdate) return err("its transaction is not the update with its reports, signed by its submitter");
  const [simulation, submission] = await Promise.all([
    network.simulator.simulateUpdate(dataset.address, key, outcome, data),
    submitRaw(network.client, signed.raw, signed.hash),
  ]);
  if (submission.kind !== "accepted") return err(`no RPC endpoint accepts its transaction, ${signed.hash}`);
  if (simulation.kind === "refused") return err(`its transaction would fail: ${simulation.problem.title}`);
  // If the pending block has the transaction already, the status is read from what is stored there.
  const stored =
    simulation.kind === "ok"
      ? { ...simulation, updatedAt: answered }
      : await readStored(network.client, dataset.address, key, "pending");
  if (stored.updatedAt !== answered) return storedSince(dataPoint, answered);
  const { status } = stored;
  const value = storedValue(dataset.kind, status, decision.reports);
  const { hash } = signed;
  const accepted = {
    ...toDataAnswer(dataPoint, { value, status, round: answered, reports: decision.reports }),
    transaction_hash: hash,
  };
  tell(progress, accepted, outcome, committee.members.length);
  let mined: SentUpdate["mined"] | undefined;
  return ok({
    answer: accepted,
    raw: signed.raw,
    // Lazy, because looking costs requests and it is possible that nobody is waiting.
    get mined() {
      mined ??= watch(context, dataPoint, accepted, hash, progress);
      return mined;
    },
  });
}

async function storedSince(dataPoint: DataPoint, round: bigint): Promise<Result<SentUpdate>> {
  const stored = await storedOrPending(dataPoint);
  const { timestamp } = stored.answer;
  return BigInt(timestamp) >= round ? ok(stored) : err(`it says a new round is stored, but the newest is ${timestamp}`);
}

/**
 * Returns the reports of an answer; none when one of them is malformed, or not signed by the member that it names. All
 * else that the dataset would refuse, such as a value out of range, the simulation shows.
 */
function checkReports({ dataset, key }: DataPoint, answer: ForwardedAnswer["answer"]): readonly ReportStatement[] {
  const outcome = answer.status === "NOT_AVAILABLE" ? "NOT_AVAILABLE" : "OK";
  const round = BigInt(answer.timestamp);
  const digestOf = dataset.digests.of({ key, round });
  const { members } = dataset.committee.current;
  const reports = new Map<string, ReportStatement>();
  for (const { provider: text, value: written, signature } of answer.reports) {
    const provider = members.find((member) => member === text);
    const value = parseValue(dataset.kind, written);
    if (provider === undefined || value === null) return [];
    if (recoverSigner(digestOf(outcome, value), signature) !== provider) return [];
    reports.set(provider, { kind: "report", provider, round, key, outcome, value, signature: signature as Hex });
  }
  return [...reports.values()];
}

/** Tells the callers who follow the request what the other node did. */
function tell(progress: Progress, answer: SentUpdate["answer"], outcome: Outcome, of: number): void {
  const providers = answer.reports.map(({ provider }) => provider);
  progress.emit({ event: "asked", timestamp: answer.timestamp, providers });
  for (const [index, provider] of providers.entries()) {
    progress.emit({ event: "report", provider, outcome, received: index + 1, of });
  }
  const transaction_hash = answer.transaction_hash ?? "";
  progress.emit({ event: "signed", transaction_hash });
  progress.emit({ event: "sent", transaction_hash });
}

/** Waits until another node's transaction is mined, or a newer round is stored. Null when it takes too long. */
async function watch(
  { clock, closing }: Context,
  { network, dataset, key }: DataPoint,
  answer: SentUpdate["answer"],
  hash: Hex,
  progress: Progress,
): SentUpdate["mined"] {
  const giveUpAt = clock() + MAX_MINING_WAIT_MS;
  while (!closing.aborted && clock() < giveUpAt) {
    const mined = await readMined(network.client, hash).catch(() => null);
    if (mined !== null) {
      if (mined.isReverted || !mined.hasEvents) return "not_stored";
      progress.emit({ event: "mined", transaction_hash: hash, block_number: mined.blockNumber });
      return answer;
    }
    const stored = await readStored(network.client, dataset.address, key, "latest").catch(() => null);
    // A newer round came first: the other node may have replaced its transaction.
    if (stored !== null && stored.updatedAt > BigInt(answer.timestamp)) return "not_stored";
    await delay(network.settings.rpcPollMs, undefined, { signal: closing }).catch(() => {});
  }
  return null;
}
