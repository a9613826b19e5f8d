import { type Outcome, type ReportHeader, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { SignedValue } from "@dataset-oracle/protocol/update";
import { type ReportRequest, SignedReport } from "@dataset-oracle/protocol/wire";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Address, type Hex, hexToBigInt } from "viem";
import { type Asked, callProvider, type Failure } from "./provider-call.js";
import { recoverSigner } from "./signer.js";

const MAX_ANSWER_BYTES = 16 * 1024;
/** What else a provider answers, such as its sources, is for people. */
const signedReport = TypeCompiler.Compile(Type.Object(SignedReport.properties));

/** What came of asking one provider. */
export type ProviderAnswer = ({ readonly kind: "report"; readonly outcome: Outcome } & SignedValue) | Failure;

/** What the providers are asked. */
export interface Question {
  readonly header: ReportHeader;
  /** What a report on it is signed by: the digest of what it says. */
  readonly digest: (outcome: Outcome, value: Hex) => Uint8Array;
  /** The largest value that the dataset can store. */
  readonly maxValue: bigint;
}

/** Asks one member of a committee for its report of a data point. */
export function askProvider({ header, digest, maxValue }: Question, asked: Asked): Promise<ProviderAnswer> {
  const { provider } = asked;
  return callProvider<ProviderAnswer>(asked, "/report", toRequest(header), MAX_ANSWER_BYTES, (json, refuse) => {
    if (!signedReport.Check(json)) return refuse("invalid_report", "answered something that is not a signed report");
    const other = firstDifference(json, provider, header);
    if (other !== null) return refuse("other_report", `reported on another ${other} than it was asked for`);

    const value = json.value as Hex;
    const signature = json.signature as Hex;
    if (json.outcome === "NOT_AVAILABLE" && value !== ZERO_VALUE) {
      return refuse("invalid_report", 'sent a value in a report of "no data"');
    }
    if (hexToBigInt(value) > maxValue) return refuse("value_too_large", "signed a value that the dataset cannot store");
    if (recoverSigner(digest(json.outcome, value), signature) !== provider) {
      return refuse("wrong_signer", "sent a report that it did not sign");
    }
    return { kind: "report", outcome: json.outcome, provider, value, signature };
  });
}

function toRequest({ chainId, dataset, key, round }: ReportHeader): ReportRequest {
  return { network_id: chainId, dataset, key, timestamp: Number(round) };
}

function firstDifference(report: SignedReport, provider: Address, header: ReportHeader): string | null {
  if (report.network_id !== header.chainId) return "network";
  if (report.dataset !== header.dataset) return "dataset";
  if (report.key !== header.key) return "key";
  if (BigInt(report.timestamp) !== header.round) return "round";
  return report.provider === provider ? null : "provider's behalf";
}
