import { ok, type Result } from "@dataset-oracle/protocol/result";
import type { FetchRequest } from "@dataset-oracle/service/untrusted/fetch-text";
import type { ReportCaller } from "../callers/caller.js";
import type { BoundSource } from "../source/compile-source.js";
import { type Json, parseExactJson } from "../source/exact-json.js";
import type { AnswerText } from "../source/judge-answer.js";
import { failed, type Reading } from "../source/source-failure.js";
import type { WebOracleKey } from "./web-oracle-key-finder.js";

/** The maximum amount of text that the sources of one key may answer together, in UTF-16 code units. */
export const MAX_KEY_TEXT = 1024 * 1024;

/** The maximum number of steps that all paths of one key may take together; `MAX_STEPS` says what a step is. */
export const MAX_KEY_STEPS = 200_000;

/** The values in a key's answers, and the number of steps that finding them took. */
export interface Extracted {
  /** One for each source. */
  readonly readings: readonly Reading<bigint>[];
  readonly steps: number;
}

/**
 * Extracts the values of a published spec's sources from their answers. Each source has an equal share of the key's
 * text and steps, so that a failure of one source never decides whether another is read: what does not fit here fits
 * nowhere, and every provider finds the same values in the same answers.
 *
 * @param answers One for each source. The reading of a source without an answer is the reason why it has none.
 * @param parse Parses an answer; replaced to parse the same text only once.
 */
export function extractValues(
  sources: readonly Pick<BoundSource, "extract">[],
  answers: readonly Reading<AnswerText>[],
  parse: (text: string) => Reading<Json> = parseExactJson,
): Extracted {
  const maxText = Math.floor(MAX_KEY_TEXT / sources.length);
  const maxSteps = Math.floor(MAX_KEY_STEPS / sources.length);
  let steps = 0;
  const readings = sources.map(({ extract }, index) => {
    const answer = answers[index] as Reading<AnswerText>;
    if (!answer.ok) return answer;
    const { text } = answer.value;
    if (text.length > maxText) {
      const share = `its share of what ${sources.length} sources may answer`;
      return failed("too_large", `answered ${text.length} characters, more than ${maxText}, ${share}`);
    }
    const document = parse(text);
    if (!document.ok) return document;
    const budget = { steps: maxSteps };
    const reading = extract(document.value, budget);
    steps += maxSteps - Math.max(budget.steps, 0);
    return reading;
  });
  return { readings, steps };
}

/** Extracts a key's values from the answers to its requests. */
export interface WebValueExtractor {
  /** Returns after how many milliseconds the key's values may be extracted for a caller; 0 for now. */
  waitMs(key: WebOracleKey, caller: ReportCaller): number;
  /** Returns what charges a caller for the requests that are made, and the bytes that are received, for it. */
  chargesTo(caller: ReportCaller): Pick<FetchRequest, "spend" | "readsOnlyOk">;
  /** Returns one reading for each answer, or after how many milliseconds to try again. */
  extract(
    key: WebOracleKey,
    answers: readonly Reading<AnswerText>[],
    caller: ReportCaller,
  ): Promise<Result<Pick<Extracted, "readings">, number>>;
}

/** Extracts in the calling thread, without allowances: for commands. */
export const EXTRACT_HERE: WebValueExtractor = {
  waitMs: () => 0,
  chargesTo: () => ({}),
  extract: async ({ request }, answers) => ok(extractValues(request.sources, answers)),
};
