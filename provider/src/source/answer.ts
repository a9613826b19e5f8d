import { err, ok } from "@dataset-oracle/protocol/result";
import type { EgressResult } from "@dataset-oracle/service/egress/egress";
import { type Json, parseDocument } from "./document.js";
import { failed, type Reading, type SourceFailure, throttled } from "./reading.js";

/** A source's answer. */
export interface Answer {
  readonly document: Json;
  /** The document as it was received. */
  readonly text: string;
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
  findError: (document: Json) => SourceFailure | null = () => null,
): Reading<Answer> {
  if (!answer.ok) return answer;
  const { status, contentType, retryAfter, text } = answer.value;
  const document: Reading<Json> = isJson(contentType)
    ? parseDocument(text)
    : failed("content_type", `answered ${contentType || "no content type"} instead of JSON`);
  const error = document.ok ? findError(document.value) : null;
  const says = `answered HTTP ${status}${error === null ? "" : ` and ${error.detail}`}`;
  // Some exchanges answer 418 to callers that ignored 429. 503 is a rate limit only when it says when to retry.
  const isLimit = status === 429 || status === 418 || (status === 503 && retryAfter !== null);
  if (isLimit || error?.code === "throttled") return throttled(says, toSeconds(retryAfter, now));
  if (status !== 200) {
    const isKnown = error !== null && error.code !== "source_error";
    return failed(isKnown ? error.code : "http_status", says);
  }
  if (error !== null) return err(error);
  return document.ok ? ok({ document: document.value, text }) : document;
}

/** Reads a Retry-After as 1 to `MAX_RETRY_AFTER` seconds; 1 when it is missing or malformed. */
function toSeconds(retryAfter: string | null, now: number): number {
  const text = retryAfter?.trim() ?? "";
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1_000;
  return Number.isNaN(seconds) ? 1 : Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER);
}

function isJson(contentType: string): boolean {
  const [type = ""] = contentType.split(";", 1);
  return /^application\/(?:[a-z0-9.+-]+\+)?json$/i.test(type.trim());
}
