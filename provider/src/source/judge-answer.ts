import { err, ok } from "@dataset-oracle/protocol/result";
import { type HttpAnswer, retryAfterMs } from "@dataset-oracle/service/process/fetch-result";
import type { EgressResult } from "@dataset-oracle/service/untrusted/egress";
import { type Json, parseExactJson } from "./exact-json.js";
import { failed, type Reading, type SourceFailure } from "./source-failure.js";

/** The text of a source's answer, as it was received. */
export interface AnswerText {
  readonly text: string;
}

/** A source file's answer. That of a published spec is parsed in a worker instead, because anyone may have chosen it. */
export interface Answer extends AnswerText {
  readonly document: Json;
}

/** The longest pause that a source's Retry-After can cause, in seconds. */
const MAX_RETRY_AFTER = 600;

/**
 * Judges a source's answer: only HTTP 200 with JSON in which the source names no error counts.
 *
 * @param now In milliseconds since 1970, because a Retry-After may be a date.
 * @param findError Finds the source's own error in JSON, whatever its HTTP status: some exchanges answer HTTP 200 or 500
 * when a rate limit is used up.
 */
export function judgeAnswer(
  answer: EgressResult,
  now: number,
  findError: (document: Json) => SourceFailure | null,
): Reading<Answer> {
  if (!answer.ok) return answer;
  const { text } = answer.value;
  const document: Reading<Json> = htmlIn(text) ?? parseExactJson(text);
  const error = document.ok ? findError(document.value) : null;
  const failure = judgeStatus(answer.value, now, error);
  if (failure !== null) return err(failure);
  return document.ok ? ok({ document: document.value, text }) : document;
}

/** Judges the answer to a published spec like `judgeAnswer`, without parsing the text. */
export function judgeText(answer: EgressResult, now: number): Reading<AnswerText> {
  if (!answer.ok) return answer;
  const failure = judgeStatus(answer.value, now, null);
  if (failure !== null) return err(failure);
  const { text } = answer.value;
  return htmlIn(text) ?? ok({ text });
}

/** The number of characters of a page that are looked at for its words. */
const PAGE_START = 4_096;
const MAX_WORDS = 80;

/**
 * Returns a failure with the first words of an HTML page, and null for anything else. Only the body matters: code hosts
 * and many APIs send JSON with another content type, or with none.
 */
function htmlIn(text: string): Reading<never> | null {
  if (!/^\s*<(?:!doctype|html|head|body|!--)/i.test(text.slice(0, PAGE_START))) return null;
  const visible = text
    .slice(0, PAGE_START)
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, " ")
    .replace(/<[^>]*(?:>|$)/g, " ");
  const words = visible.replace(/\s+/g, " ").trim().slice(0, MAX_WORDS);
  return failed("not_json", `is HTML, not JSON${words === "" ? "" : `: ${words}`}`);
}

/** @param error The error that the source names in the answer. */
function judgeStatus(
  { status, retryAfter }: HttpAnswer,
  now: number,
  error: SourceFailure | null,
): SourceFailure | null {
  const detail = `answered HTTP ${status}${error === null ? "" : ` and ${error.detail}`}`;
  // Some exchanges answer 418 to callers that ignored 429. 503 is a rate limit only when it says when to retry.
  const isLimit = status === 429 || status === 418 || (status === 503 && retryAfter !== null);
  if (isLimit || error?.code === "throttled") {
    const seconds = (retryAfterMs(retryAfter, now) ?? 0) / 1_000;
    return { code: "throttled", detail, retryAfter: Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER) };
  }
  return status === 200 ? error : { code: "http_status", detail };
}
