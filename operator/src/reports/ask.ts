import { type Outcome, type ReportSubject, recoverReporter, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { SignedValue } from "@dataset-oracle/protocol/update";
import { type ReportRequest, SignedReport } from "@dataset-oracle/protocol/wire";
import { fetchText } from "@dataset-oracle/service/fetch";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Address, type Hex, hexToBigInt } from "viem";

const MAX_ANSWER_BYTES = 16 * 1024;
/** What else a provider answers, such as its sources, is for people. */
const signedReport = TypeCompiler.Compile(Type.Object(SignedReport.properties));

/** Stable, for programs. */
export const FAILURE_REASONS = [
  "no_endpoint",
  "unreachable",
  "timeout",
  "late",
  "redirected",
  "too_large",
  "not_text",
  "refused",
  "source_busy",
  "invalid_report",
  "other_report",
  "value_too_large",
  "wrong_signer",
  "unexpected",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** What a provider answers for a key that it does not serve; all but the first are about the Web Oracle's keys. */
const NOT_SERVED = ["unknown_key", "invalid_spec", "invalid_arguments", "other_kind", "host_not_allowed"];

/** How a provider's answer failed. `detail` completes the sentence "The provider ...". */
export interface Failure {
  readonly provider: Address;
  /** Null when the operator has no endpoint for it. */
  readonly host: string | null;
  readonly reason: FailureReason;
  readonly detail: string;
}

/** What came of asking one provider. */
export type ProviderAnswer =
  | ({ readonly kind: "report"; readonly outcome: Outcome } & SignedValue)
  | ({ readonly kind: "unknown_key" } & Failure)
  | ({ readonly kind: "failure" } & Failure);

/** What the providers are asked. */
export interface Question {
  readonly subject: ReportSubject;
  /** The largest value that the dataset can store. */
  readonly maxValue: bigint;
}

/**
 * Asks one member of a committee for its report, and believes nothing that is not signed by that member. Whatever goes
 * wrong is that member's failure, so that it cannot keep the others' reports from being used.
 */
export async function askProvider(
  question: Question,
  provider: Address,
  endpoint: string | undefined,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  try {
    return await ask(question, provider, endpoint, timeoutMs, signal);
  } catch (error) {
    const name = error instanceof Error ? error.name : "an error";
    return { kind: "failure", provider, host: null, reason: "unexpected", detail: `could not be asked (${name})` };
  }
}

async function ask(
  { subject, maxValue }: Question,
  provider: Address,
  endpoint: string | undefined,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  const host = endpoint === undefined ? null : new URL(endpoint).host;
  const failure = (reason: FailureReason, detail: string) =>
    ({ kind: "failure", provider, host, reason, detail }) as const;
  if (endpoint === undefined) return failure("no_endpoint", "has no endpoint in this operator's configuration");

  const answer = await fetchText(
    {
      url: `${endpoint}/report`,
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(toRequest(subject)),
    },
    { timeoutMs, maxBytes: MAX_ANSWER_BYTES },
    signal,
  );
  if (!answer.ok) {
    if (answer.failure === "aborted") return failure("late", "had not answered when the others' time was over");
    if (answer.failure === "unreachable") return failure("unreachable", `could not be reached (${answer.detail})`);
    if (answer.failure === "timeout") return failure("timeout", `gave ${answer.detail}`);
    return failure(answer.failure, answer.detail);
  }
  const json = parseJson(answer.text);
  if (answer.status !== 200) {
    const code = problemCode(json);
    const reason = code === "source_busy" ? code : "refused";
    const refusal = failure(reason, `answered HTTP ${answer.status}${code === null ? "" : ` (${code})`}`);
    return NOT_SERVED.includes(code ?? "") ? { ...refusal, kind: "unknown_key" } : refusal;
  }
  if (!signedReport.Check(json)) return failure("invalid_report", "answered something that is not a signed report");
  const other = firstDifference(json, provider, subject);
  if (other !== null) return failure("other_report", `reported on another ${other} than it was asked for`);

  const value = json.value as Hex;
  const signature = json.signature as Hex;
  if (json.outcome === "NOT_AVAILABLE" && value !== ZERO_VALUE) {
    return failure("invalid_report", 'sent a value in a report of "no data"');
  }
  if (hexToBigInt(value) > maxValue) return failure("value_too_large", "signed a value that the dataset cannot store");
  const signer = await recoverReporter({ ...subject, outcome: json.outcome, value }, signature);
  if (signer !== provider) return failure("wrong_signer", "sent a report that it did not sign");
  return { kind: "report", outcome: json.outcome, provider, value, signature };
}

function toRequest({ chainId, dataset, key, timestamp }: ReportSubject): ReportRequest {
  return { network_id: chainId, dataset, key, timestamp: Number(timestamp) };
}

function firstDifference(report: SignedReport, provider: Address, subject: ReportSubject): string | null {
  if (report.network_id !== subject.chainId) return "network";
  if (report.dataset !== subject.dataset) return "dataset";
  if (report.key !== subject.key) return "key";
  if (BigInt(report.timestamp) !== subject.timestamp) return "round";
  return report.provider === provider ? null : "provider's behalf";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A problem's code, if it looks like one: nothing else that a provider writes reaches a caller. */
function problemCode(json: unknown): string | null {
  const code = (json as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : null;
}
