import { ok } from "@dataset-oracle/protocol/result";
import type { EgressResult } from "@dataset-oracle/service/egress/egress";
import { type Json, parseDocument } from "./document.js";
import { failed, type Reading, throttled } from "./reading.js";

/** A source's answer. */
export interface Answer {
  readonly document: Json;
  /** The document as it was received. */
  readonly text: string;
}

/** The longest pause that a source's Retry-After can cause, in seconds. */
const MAX_RETRY_AFTER = 600;

/**
 * Judges a source's answer: only HTTP 200 with JSON counts.
 *
 * @param now In milliseconds since 1970, because a Retry-After may be a date.
 */
export function judgeAnswer(answer: EgressResult, now: number): Reading<Answer> {
  if (!answer.ok) return answer.error.code === "busy" ? throttled(answer.error.detail, 1) : answer;
  const { status, contentType, retryAfter, text } = answer.value;
  // Some exchanges answer 418 to callers that ignored 429. 503 is a rate limit only when it says when to retry.
  if (status === 429 || status === 418 || (status === 503 && retryAfter !== null)) {
    return throttled(`answered HTTP ${status}`, toSeconds(retryAfter, now));
  }
  if (status !== 200) return failed("http_status", `answered HTTP ${status}`);
  if (!isJson(contentType)) {
    return failed("content_type", `answered ${contentType || "no content type"} instead of JSON`);
  }
  const document = parseDocument(text);
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
