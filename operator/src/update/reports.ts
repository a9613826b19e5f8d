import { setMaxListeners } from "node:events";
import type { Committee } from "@dataset-oracle/protocol/committee";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { type Outcome, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { SignedRow, SignedValue } from "@dataset-oracle/protocol/update";
import {
  type BatchReportRequest,
  type ReportRequest,
  SignedBatchReport,
  SignedReport,
} from "@dataset-oracle/protocol/wire";
import { traceHeaders } from "@dataset-oracle/service/http-server/trace";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Address, type Hex, hexToBigInt } from "viem";
import type { Batch, DataPoint } from "../data-point.js";
import type { Dataset, Network } from "../network.js";
import type { Context } from "../process-context.js";
import type { Progress } from "../single-flight.js";
import type { Statement } from "../statements/statement.js";
import { askProvider, type Fail, type Failure, isFailure, type ProviderRequest } from "./ask-provider.js";
import { postQuestion } from "./post-question.js";
import { recoverSigner } from "./recover-signer.js";

/** A provider's checked report. */
export type CheckedReport = { readonly kind: "report"; readonly outcome: Outcome } & SignedValue;

/** A provider's checked report, or why there is none. */
export type ProviderAnswer = CheckedReport | Failure;

/** A provider's checked row of a batch, or why there is none. */
export type RowAnswer = ({ readonly kind: "row" } & SignedRow) | Failure;

/** The outcome of a round, decided as the contract will decide it. */
export type Decision =
  | { readonly kind: "update"; readonly outcome: Outcome; readonly reports: readonly CheckedReport[] }
  | { readonly kind: "unknown_key" }
  | { readonly kind: "no_quorum" };

/** Why a member is not counted that signed two contents for one key and round. */
const CONTRADICTED = ["contradicted", "signed two contents for one key and round"] as const;
/** Other nodes have asked the providers themselves by then. */
const RELAY_AFTER_MS = 1_000;
/** Room for 256 keys of 256 bytes in hex, and a value for each. */
const MAX_ROW_BYTES = 192 * 1024;

// Only the signed fields are checked. The rest of an answer, such as the sources used, is for people.
const signedReport = TypeCompiler.Compile(Type.Object(SignedReport.properties));
const signedRow = TypeCompiler.Compile(Type.Object(SignedBatchReport.properties));

/**
 * Asks a committee for its reports on a data point.
 *
 * @param round Seconds since 1970.
 * @returns One answer for each member, in the committee's order.
 */
export function gatherReports(
  context: Context,
  { network, dataset, key }: DataPoint,
  round: bigint,
  committee: Committee,
  progress: Progress,
): Promise<readonly ProviderAnswer[]> {
  const { members } = committee;
  progress.emit({ event: "asked", timestamp: Number(round), providers: [...members] });
  const digestOf = dataset.digests.of({ key, round });
  const expected: ReportRequest = {
    network_id: network.chainId,
    dataset: dataset.address,
    key,
    timestamp: Number(round),
  };
  let received = 0;
  const tell = ({ provider, outcome }: CheckedReport) => {
    received += 1;
    progress.emit({ event: "report", provider, outcome, received, of: members.length });
  };
  const read: ProviderRequest<ProviderAnswer>["read"] = (json, provider, fail) => {
    const answer = checkReport(json, { ...expected, provider }, digestOf, dataset.maxValue, fail);
    if (answer.kind !== "report") return answer;
    if (network.statements.add(dataset, { ...answer, key, round }) === "contradicted") return fail(...CONTRADICTED);
    tell(answer);
    return answer;
  };
  const readHeld = (held: Statement): CheckedReport | null => {
    if (held.kind !== "report") return null;
    const { kind, provider, outcome, value, signature } = held;
    const answer = { kind, provider, outcome, value, signature };
    tell(answer);
    return answer;
  };
  const { traceparent } = traceHeaders(progress.trace);
  const question = traceparent === undefined ? expected : { ...expected, traceparent };
  const timeoutMs = network.settings.providerTimeoutMs;
  const send: ProviderRequest<ProviderAnswer>["send"] = (base, signal) =>
    network.reportRequests.ask(base, question, timeoutMs, signal);
  const isEnough = (answers: readonly ProviderAnswer[]) => decide(members.length, answers).kind !== "no_quorum";
  const relay = { dataset, round, key, kind: "report", read: readHeld } as const;
  return askCommittee(context, network, committee, { send, read }, relay, isEnough);
}

/**
 * Asks a committee for its rows of a batch.
 *
 * @returns One answer for each member, in the committee's order.
 */
export function gatherRows(
  context: Context,
  { network, dataset, keys, round }: Batch,
  committee: Committee,
): Promise<readonly RowAnswer[]> {
  const expected: BatchReportRequest = {
    network_id: network.chainId,
    dataset: dataset.address,
    keys: [...keys],
    timestamp: Number(round),
  };
  const read: ProviderRequest<RowAnswer>["read"] = (json, provider, fail) => {
    if (!signedRow.Check(json)) return fail("invalid_report", "answered something that is not a row of a batch");
    const isOther =
      json.network_id !== expected.network_id ||
      json.dataset !== expected.dataset ||
      json.timestamp !== expected.timestamp ||
      json.provider !== provider ||
      json.values.length !== keys.length;
    if (isOther) return fail("other_report", "answered with another row than the one asked");
    const row = { missing: hexToBigInt(json.missing as Hex), values: json.values as Hex[] };
    const signature = json.signature as Hex;
    // The signature is checked over the keys that were asked for, whatever keys the answer repeats.
    if (recoverSigner(dataset.digests.ofRow({ keys, round, ...row }), signature) !== provider)
      return fail("wrong_signer", "sent a row that it did not sign");
    const answer = { kind: "row", provider, ...row, signature } as const;
    const added = network.statements.add(dataset, { ...answer, keys, round });
    return added === "contradicted" ? fail(...CONTRADICTED) : answer;
  };
  const limits = { timeoutMs: network.settings.providerTimeoutMs, maxBytes: MAX_ROW_BYTES };
  const posted = { path: "/report/batch", body: JSON.stringify(expected), limits } as const;
  const send: ProviderRequest<RowAnswer>["send"] = (base, signal) => postQuestion(network.http, base, posted, signal);
  const isEnough = (answers: readonly RowAnswer[]) => {
    const rows = answers.filter(({ kind }) => kind === "row").length;
    return isQuorum(rows, committee.members.length - rows);
  };
  const readHeld = (held: Statement): RowAnswer | null => {
    if (held.kind !== "row" || held.keys.join() !== keys.join()) return null;
    const { kind, provider, missing, values, signature } = held;
    return { kind, provider, missing, values, signature };
  };
  const relay = { dataset, round, key: keys[0] ?? "0x", kind: "row", read: readHeld } as const;
  return askCommittee(context, network, committee, { send, read }, relay, isEnough);
}

/** The question as it can be answered by what others pass on. */
interface Relay<T> {
  readonly dataset: Dataset;
  readonly round: bigint;
  /** A key that the question is about. */
  readonly key: Hex;
  readonly kind: Statement["kind"];
  /** Returns null for what answers another question. */
  readonly read: (held: Statement) => T | null;
}

/**
 * Asks all members at once. After enough have answered, the others get a short grace period, because every valid report
 * at hand is sent. If there are not enough after a second, what others have passed on counts too, and other nodes are asked
 * for what they hold.
 */
async function askCommittee<T extends { readonly kind: string }>(
  { closing, metrics }: Context,
  network: Network,
  { members }: Committee,
  request: ProviderRequest<T>,
  relay: Relay<T | Failure>,
  isEnough: (answers: readonly (T | Failure)[]) => boolean,
): Promise<readonly (T | Failure)[]> {
  const { chainId, endpoints, providerHealth, settings, statements } = network;
  const over = new AbortController();
  // Each member's request listens.
  setMaxListeners(0, over.signal);
  const stop = () => over.abort();
  if (closing.aborted) stop();
  closing.addEventListener("abort", stop);
  const answers = new Map<Address, T | Failure>();
  let grace: NodeJS.Timeout | undefined;
  const take = (provider: Address, answer: T | Failure) => {
    answers.set(provider, answer);
    if (grace === undefined && isEnough([...answers.values()])) grace = setTimeout(stop, settings.graceMs);
  };
  const isLacking = (provider: Address) => {
    const answer = answers.get(provider);
    return answer === undefined || isFailure(answer);
  };
  const takeRelayed = () => {
    const { dataset, kind, key, round } = relay;
    for (const provider of members.filter(isLacking)) {
      const held = statements.find(dataset, provider, kind, key, round);
      const answer = held && relay.read(held);
      if (answer !== null) take(provider, answer);
    }
  };
  const askOthers = async () => {
    takeRelayed();
    if (grace !== undefined || over.signal.aborted) return;
    await network.relayed.fetch(network, relay.dataset, relay.key, relay.round);
    takeRelayed();
  };
  const later = relayLater(askOthers);
  await Promise.all(
    members.map(async (provider) => {
      const startedAt = performance.now();
      const endpoint = endpoints.get(provider);
      const answer = await askProvider(request, provider, endpoint, over.signal);
      const result = isFailure(answer) ? answer.reason : "ok";
      metrics.providerAsked(chainId, provider, result, (performance.now() - startedAt) / 1000);
      providerHealth.answered(provider, answer);
      if (isLacking(provider)) take(provider, answer);
    }),
  );
  if (grace === undefined && !over.signal.aborted && network.relayed.hasOthers) await later.done;
  later.cancel();
  clearTimeout(grace);
  closing.removeEventListener("abort", stop);
  return members.flatMap((provider) => answers.get(provider) ?? []);
}

/** Runs something after a second, unless it is no longer needed. */
function relayLater(run: () => Promise<void>): { readonly done: Promise<void>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const done = new Promise<void>((resolve) => {
    timer = setTimeout(() => void run().finally(resolve), RELAY_AFTER_MS);
  });
  return { done, cancel: () => clearTimeout(timer) };
}

/**
 * Decides as the contract will: values and "no data" never mix, and a member that did not sign the same outcome counts
 * as absent.
 *
 * @param members The size of the whole committee.
 */
export function decide(members: number, answers: readonly ProviderAnswer[]): Decision {
  const reached = (count: number) => isQuorum(count, members - count);
  for (const outcome of ["OK", "NOT_AVAILABLE"] as const) {
    const reports = reportsOf(outcome, answers);
    if (reached(reports.length)) return { kind: "update", outcome, reports };
  }
  const refusals = answers.filter(({ kind }) => kind === "unknown_key");
  return { kind: reached(refusals.length) ? "unknown_key" : "no_quorum" };
}

/** Returns the reports that state `outcome`. */
export function reportsOf(outcome: Outcome, answers: readonly ProviderAnswer[]): readonly CheckedReport[] {
  return answers.filter((answer) => answer.kind === "report").filter((report) => report.outcome === outcome);
}

/** Checks that an answer is the report that was asked for, with a value that can be stored, signed by the provider. */
function checkReport(
  json: unknown,
  expected: ReportRequest & { readonly provider: Address },
  digestOf: (outcome: Outcome, value: Hex) => Uint8Array,
  maxValue: bigint,
  fail: Fail,
): ProviderAnswer {
  if (!signedReport.Check(json)) return fail("invalid_report", "answered something that is not a signed report");
  const difference = firstDifference(json, expected);
  if (difference !== null) return fail("other_report", `answered for another ${difference} than the one asked`);
  const { provider } = expected;
  const { outcome } = json;
  const value = json.value as Hex;
  const signature = json.signature as Hex;
  if (outcome === "NOT_AVAILABLE" && value !== ZERO_VALUE) {
    return fail("invalid_report", 'sent a value in a report of "no data"');
  }
  if (hexToBigInt(value) > maxValue) return fail("value_too_large", "signed a value that the dataset cannot store");
  if (recoverSigner(digestOf(outcome, value), signature) !== provider) {
    return fail("wrong_signer", "sent a report that it did not sign");
  }
  return { kind: "report", outcome, provider, value, signature };
}

function firstDifference(
  report: SignedReport,
  expected: ReportRequest & { readonly provider: Address },
): string | null {
  if (report.network_id !== expected.network_id) return "network";
  if (report.dataset !== expected.dataset) return "dataset";
  if (report.key !== expected.key) return "key";
  if (report.timestamp !== expected.timestamp) return "round";
  return report.provider === expected.provider ? null : "provider";
}
