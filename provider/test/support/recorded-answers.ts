import { readFileSync } from "node:fs";

/** An exchange's price answer, from its documentation or recorded by a public project. Only whitespace was removed. */
export interface RecordedExchangeAnswer {
  readonly kind: "documentation" | "recording";
  /** Where it was found. */
  readonly from: string;
  readonly body: string;
  /** The exact prices that must be read from it, by pair. A pair with USD is in USDT where the source has no USD. */
  readonly prices: Readonly<Record<string, string>>;
  /** The time that must be read from it, in whole seconds; null when it has none. */
  readonly quotedAt: number | null;
}

/** An exchange's documented error. */
interface RecordedError {
  readonly from: string;
  readonly status: number;
  readonly body: string;
  /** The failure's code. */
  readonly outcome: string;
  /** A part of the failure's detail. */
  readonly says: string;
}

/** Reads what is recorded of an exchange. */
export function loadRecordedAnswers(exchange: string): {
  readonly answers: readonly RecordedExchangeAnswer[];
  readonly errors: readonly RecordedError[];
} {
  return JSON.parse(readFileSync(new URL(`../recorded/${exchange}.json`, import.meta.url), "utf8"));
}
