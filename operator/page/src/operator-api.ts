import type { DataPointAnswer } from "@dataset-oracle/protocol/http-schemas/data";
import type { EvidenceAnswer } from "@dataset-oracle/protocol/http-schemas/evidence";
import type { HistoryAnswer } from "@dataset-oracle/protocol/http-schemas/history";
import type { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import type { DatasetTrialRequest, SpecTrial } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";

/** The operator's base URL. The page is served directly under it. */
export const OPERATOR_URL = new URL(".", location.href.split("#", 1)[0]).href.replace(/\/$/, "");

/** Identifies a data point. */
export interface PointId {
  readonly networkId: number;
  readonly dataset: string;
  /** In ASCII, or in hex after `0x`. */
  readonly key: string;
}

/** Identifies one provider's value of a data point at a round. */
export interface EvidenceId extends PointId {
  readonly round: number;
  /** Its address. */
  readonly provider: string;
}

/** The reason why something could not be read: the operator's problem, or one that the page found itself. */
export interface ReadError {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** In seconds; null if the operator did not say. */
  readonly retryAfter: number | null;
  /** The places in what was sent that are wrong, if the operator named any. */
  readonly errors?: readonly { readonly property: string; readonly problem: string }[];
}

const DEADLINE_MS = 20_000;
/** Longer than a provider waits for a spec's sources. */
const TRIAL_MS = 40_000;

export const getOverview = () => get<OverviewAnswer>("overview");

export const getData = (id: PointId) => get<DataPointAnswer>("data", toQuery(id));

/** The part of a history to read, and its form. */
export type HistoryRange = Partial<
  Readonly<Record<"from" | "to" | "from_time" | "to_time" | "interval" | "limit", number>>
>;

export const getHistory = (id: PointId, part: HistoryRange) =>
  get<HistoryAnswer>("history", { ...toQuery(id), ...part });

/** Returns the URL of the same part of a history as CSV. */
export function csvUrl(id: PointId, part: HistoryRange): string {
  return `${OPERATOR_URL}/history?${parametersOf({ ...toQuery(id), ...part, format: "csv" })}`;
}

/** Reads one provider's evidence through the operator: the page itself connects to no other place. */
export const getEvidence = (id: EvidenceId) => get<EvidenceAnswer>("evidence", toEvidenceQuery(id));

/** Returns the URL of a provider's evidence, for a link that saves it. */
export const evidenceUrl = (id: EvidenceId) => `${OPERATOR_URL}/evidence?${parametersOf(toEvidenceQuery(id))}`;

const toEvidenceQuery = (id: EvidenceId) => ({ ...toQuery(id), timestamp: id.round, provider: id.provider });

const toQuery = ({ networkId, dataset, key }: PointId) => ({ network_id: networkId, dataset, key });

const parametersOf = (query: Record<string, string | number>) =>
  new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));

/** Reads a path under the operator's base URL. Never throws. */
const get = <T>(path: string, query: Record<string, string | number> = {}) =>
  ask<T>(`${path}?${parametersOf(query)}`, DEADLINE_MS);

/** Has a provider try a request spec. */
export const trySpec = (body: DatasetTrialRequest) =>
  ask<SpecTrial>("specs/try", TRIAL_MS, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

async function ask<T>(path: string, deadlineMs: number, init: RequestInit = {}): Promise<Result<T, ReadError>> {
  try {
    const response = await fetch(`${OPERATOR_URL}/${path}`, { ...init, signal: AbortSignal.timeout(deadlineMs) });
    if (!response.ok) return err(await readProblem(response));
    const json = parseJson(await response.text());
    return json === null ? err(unexpectedAnswer(response.status)) : ok(json as T);
  } catch {
    return err(UNREACHABLE);
  }
}

/** The operator gave no answer. */
export const UNREACHABLE: ReadError = {
  code: "unreachable",
  title: "The operator does not answer.",
  detail: "Check your connection, and try again.",
  retryAfter: null,
};

/** The operator's stream ended without an answer. */
export const BROKEN_OFF: ReadError = {
  code: "broken_off",
  title: "The operator's response was cut off.",
  detail: "The operator may have been restarted. Try again.",
  retryAfter: null,
};

/** Something other than the operator answered, such as a proxy. */
export const unexpectedAnswer = (status: number): ReadError => ({
  code: "unexpected_answer",
  title: "Something other than the operator answered.",
  detail:
    `The answer has the status ${status}, but not the operator's format. It may be from a proxy in front of the ` +
    "operator, or from the sign-in page of your network. Sign in there, or try again in a minute.",
  retryAfter: null,
});

/** Reads an answer that is not a success. */
export async function readProblem(response: Response): Promise<ReadError> {
  const { code, title, detail, errors } = (parseJson(await response.text()) ?? {}) as Partial<ReadError>;
  const seconds = response.headers.get("retry-after") ?? "";
  // A timer fires at once if its time is not a number or too large. A proxy may send a date.
  const retryAfter = /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
  if (!code || !title || !detail) return { ...unexpectedAnswer(response.status), retryAfter };
  return { code, title, detail, retryAfter, ...(errors && { errors }) };
}
