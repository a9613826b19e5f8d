import type { DataPointAnswer } from "@dataset-oracle/protocol/http-schemas/data";
import type { HistoryAnswer } from "@dataset-oracle/protocol/http-schemas/history";
import type { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
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

/** The reason why something could not be read: the operator's problem, or one that the page found itself. */
export interface ReadError {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** In seconds; null if the operator did not say. */
  readonly retryAfter: number | null;
}

const DEADLINE_MS = 20_000;

export const getOverview = () => get<OverviewAnswer>("overview");

export const getData = (id: PointId) => get<DataPointAnswer>("data", toQuery(id));

/** The part of a history to read. */
type HistoryRange = Partial<Readonly<Record<"to" | "from_time" | "limit", number>>>;

export const getHistory = (id: PointId, part: HistoryRange) =>
  get<HistoryAnswer>("history", { ...toQuery(id), ...part });

const toQuery = ({ networkId, dataset, key }: PointId) => ({ network_id: networkId, dataset, key });

/** Reads a path under the operator's base URL. Never throws. */
async function get<T>(path: string, query: Record<string, string | number> = {}): Promise<Result<T, ReadError>> {
  const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const response = await fetch(`${OPERATOR_URL}/${path}?${parameters}`, { signal });
    const json = parseJson(await response.text());
    if (!response.ok) return err(toReadError(response, json));
    return json === null ? err(unexpectedAnswer(response.status)) : ok(json as T);
  } catch {
    return err(UNREACHABLE);
  }
}

/** The operator gave no answer. */
const UNREACHABLE: ReadError = {
  code: "unreachable",
  title: "The operator does not answer.",
  detail: "Check your connection, and try again.",
  retryAfter: null,
};

/** Something other than the operator answered, such as a proxy. */
const unexpectedAnswer = (status: number): ReadError => ({
  code: "unexpected_answer",
  title: "Something other than the operator answered.",
  detail:
    `The answer has the status ${status}, but not the operator's format. It may be from a proxy in front of the ` +
    "operator, or from the sign-in page of your network. Sign in there, or try again in a minute.",
  retryAfter: null,
});

function toReadError({ status, headers }: Response, json: unknown): ReadError {
  const { code, title, detail } = (json ?? {}) as Partial<ReadError>;
  const seconds = headers.get("retry-after") ?? "";
  // A timer fires at once if its time is not a number or too large. A proxy may send a date.
  const retryAfter = /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
  if (!code || !title || !detail) return { ...unexpectedAnswer(status), retryAfter };
  return { code, title, detail, retryAfter };
}
