import type { Committee } from "@dataset-oracle/protocol/committee-hash";
import {
  type BatchReportRequest,
  type ReportRequest,
  SignedBatchReport,
  SignedReport,
} from "@dataset-oracle/protocol/http-schemas/reports";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { type Outcome, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import { traceHeaders } from "@dataset-oracle/service/http-server/trace";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Address, type Hex, hexToBigInt } from "viem";
import type { DataPoint } from "../data-point.js";
import type { Context } from "../process-context.js";
import type { Progress } from "../progress.js";
import { type Fail, type Failure, type ProviderRequest, postQuestion } from "../providers/ask-provider.js";
import type { ReportStatement, RowStatement } from "../statements/statement.js";
import { askCommittee } from "./ask-committee.js";
import type { Batch } from "./batch.js";
import { decideByQuorum, type ProviderAnswer } from "./quorum-decision.js";

/** A provider's checked row of a batch, or why there is none. */
export type RowAnswer = RowStatement | Failure;

/** The reason why a member that signed two contents for one key and round is not counted. */
const CONTRADICTED = ["contradicted", "signed two conflicting statements about one key and round"] as const;
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
  const { traceparent } = traceHeaders(progress.trace);
  const question = traceparent === undefined ? expected : { ...expected, traceparent };
  const timeoutMs = network.settings.providerTimeoutMs;
  return askCommittee<ReportStatement>(context, network, committee, {
    ...{ dataset, round, key, kind: "report" },
    send: (base, signal) => network.reportRequests.ask(base, question, timeoutMs, signal),
    read: (json, provider, fail) => {
      const answer = checkReport(json, { ...expected, provider }, round, digestOf, dataset.maxValue, fail);
      if (answer.kind !== "report") return answer;
      return network.statements.add(dataset, answer) === "contradicted" ? fail(...CONTRADICTED) : answer;
    },
    isAnswer: () => true,
    onTaken: ({ provider, outcome }) => {
      received += 1;
      progress.emit({ event: "report", provider, outcome, received, of: members.length });
    },
    isEnough: (answers) => decideByQuorum(members.length, answers).kind !== "no_quorum",
  });
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
  const read: ProviderRequest<RowStatement>["read"] = (json, provider, fail) => {
    if (!signedRow.Check(json)) return fail("invalid_report", "answered with something other than a row of a batch");
    const difference =
      firstDifference(json, { ...expected, provider }) ??
      (json.values.length === keys.length ? null : "number of keys");
    if (difference !== null) return fail("other_report", answeredForOther(difference, json));
    // The signature is checked over the keys that were asked for, whatever keys the answer repeats.
    const row = { keys, round, missing: hexToBigInt(json.missing as Hex), values: json.values as Hex[] };
    const signature = json.signature as Hex;
    if (recoverSigner(dataset.digests.ofRow(row), signature) !== provider)
      return fail("wrong_signer", "sent a row that it did not sign");
    const answer = { kind: "row", provider, ...row, signature } as const;
    return network.statements.add(dataset, answer) === "contradicted" ? fail(...CONTRADICTED) : answer;
  };
  const limits = { timeoutMs: network.settings.providerTimeoutMs, maxBytes: MAX_ROW_BYTES };
  const posted = { path: "/report/batch", body: JSON.stringify(expected), limits } as const;
  return askCommittee<RowStatement>(context, network, committee, {
    ...{ dataset, round, key: keys[0] ?? "0x", kind: "row", read },
    send: (base, signal) => postQuestion(network.http, base, posted, signal),
    isAnswer: (held) => held.keys.join() === keys.join(),
    onTaken: () => {},
    isEnough: (answers) => {
      const rows = answers.filter(({ kind }) => kind === "row").length;
      return isQuorum(rows, committee.members.length - rows);
    },
  });
}

/** Checks that an answer is the report that was asked for, with a value that can be stored, signed by the provider. */
function checkReport(
  json: unknown,
  expected: ReportRequest & { readonly provider: Address },
  round: bigint,
  digestOf: (outcome: Outcome, value: Hex) => Uint8Array,
  maxValue: bigint,
  fail: Fail,
): ProviderAnswer {
  if (!signedReport.Check(json)) return fail("invalid_report", "answered with something other than a signed report");
  const difference = firstDifference(json, expected) ?? (json.key === expected.key ? null : "key");
  if (difference !== null) return fail("other_report", answeredForOther(difference, json));
  const { provider } = expected;
  const { outcome } = json;
  const value = json.value as Hex;
  const signature = json.signature as Hex;
  if (outcome === "NOT_AVAILABLE" && value !== ZERO_VALUE) {
    return fail("invalid_report", "sent a value in a NOT_AVAILABLE report");
  }
  if (hexToBigInt(value) > maxValue) return fail("value_too_large", "signed a value that the dataset cannot store");
  if (recoverSigner(digestOf(outcome, value), signature) !== provider) {
    return fail("wrong_signer", "sent a report that it did not sign");
  }
  return { kind: "report", provider, round, key: expected.key as Hex, outcome, value, signature };
}

/** The fields that a report and a row share. */
type SharedFields = Pick<SignedReport, "network_id" | "dataset" | "timestamp" | "provider">;

/** Names the first of the shared fields in which an answer differs from what was asked for. */
function firstDifference(answer: SharedFields, expected: SharedFields): string | null {
  if (answer.network_id !== expected.network_id) return "network";
  if (answer.dataset !== expected.dataset) return "dataset";
  if (answer.timestamp !== expected.timestamp) return "round";
  return answer.provider === expected.provider ? null : "provider";
}

const answeredForOther = (difference: string, { provider }: SharedFields) =>
  difference === "provider"
    ? `signs as ${provider}: the operator's owner must correct \`providers\`, or the provider's owner must correct the announced node`
    : `answered for a different ${difference} than the one requested`;
