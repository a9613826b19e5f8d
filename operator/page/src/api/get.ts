import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { BASE } from "./base";

/** The reason why something could not be read: the operator's problem, or one that the page found itself. */
export interface ReadError {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** In seconds; null if the operator did not say. */
  readonly retryAfter: number | null;
}

const DEADLINE_MS = 20_000;

const UNREACHABLE: ReadError = {
  code: "unreachable",
  title: "The operator does not answer.",
  detail: "Check your connection. The page retries automatically.",
  retryAfter: null,
};

/** Reads a path under the operator's base URL. Never throws. */
export async function get<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Result<T, ReadError>> {
  try {
    const asked = Object.keys(query).length > 0 ? `${path}?${new URLSearchParams(query)}` : path;
    const response = await fetch(`${BASE}/${asked}`, { signal: AbortSignal.timeout(DEADLINE_MS) });
    const body = (await response.json()) as T & Partial<ReadError>;
    if (response.ok) return ok(body);
    const {
      code = "unexpected_answer",
      title = "The operator returned an unexpected answer.",
      detail = "Try again.",
    } = body;
    const seconds = response.headers.get("retry-after");
    return err({ code, title, detail, retryAfter: seconds === null ? null : Number(seconds) });
  } catch {
    return err(UNREACHABLE);
  }
}
