import type { Committee } from "@dataset-oracle/protocol/committee-hash";
import { type ReportRequest, SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import { type Outcome, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import { traceHeaders } from "@dataset-oracle/service/http-server/trace";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Address, type Hex, hexToBigInt } from "viem";
import type { DataPoint } from "../data-point.js";
import type { Context } from "../process-context.js";
import type { Progress } from "../progress.js";
import type { Fail } from "../providers/failure.js";
import type { ReportStatement } from "../statements/statement.js";
import { askCommittee } from "./ask-committee.js";
import { decideByQuorum, type ProviderAnswer } from "./quorum-decision.js";
import { answeredForOther, CONTRADICTED, firstDifference } from "./unusable-answers.js";

// Only the signed fields are checked. The rest of an answer, such as the sources used, is for people.
const signedReport = TypeCompiler.Compile(Type.Object(SignedReport.properties));

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
