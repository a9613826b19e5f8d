import { BASE } from "./base";

/** Why something could not be read: what the operator's problem says, or what the page knows itself. */
export interface Trouble {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** In seconds; null if nobody says. */
  readonly retryAfter: number | null;
}

/** An answer of the operator, or why there is none. */
export type Got<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly trouble: Trouble };

const DEADLINE_MS = 20_000;

const UNREACHABLE: Trouble = {
  code: "unreachable",
  title: "The operator does not answer.",
  detail: "Check your connection. The page tries again by itself.",
  retryAfter: null,
};

/** Asks the operator for something under its base URL. It never throws. */
export async function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Got<T>> {
  try {
    const asked = Object.keys(query).length > 0 ? `${path}?${new URLSearchParams(query)}` : path;
    const response = await fetch(`${BASE}/${asked}`, { signal: AbortSignal.timeout(DEADLINE_MS) });
    const body = (await response.json()) as T & Partial<Trouble>;
    if (response.ok) return { ok: true, value: body };
    const { code = "unexpected_answer", title = "The operator cannot say.", detail = "Try again." } = body;
    const seconds = response.headers.get("retry-after");
    return { ok: false, trouble: { code, title, detail, retryAfter: seconds === null ? null : Number(seconds) } };
  } catch {
    return { ok: false, trouble: UNREACHABLE };
  }
}
