import type { EgressResult } from "@dataset-oracle/service/egress/egress";
import { type Json, parseDocument } from "./document.js";
import { failed, type Reading, read, throttled } from "./reading.js";

/** What a source answered. */
export interface Answer {
  readonly document: Json;
  /** The document as it came. */
  readonly text: string;
}

/** The longest that a source can send itself away for, in seconds. */
const MAX_RETRY_AFTER = 600;

/**
 * Judges what a source answered: only HTTP 200 with JSON counts.
 *
 * @param now In milliseconds since 1970: a Retry-After may be a date.
 */
export function judgeAnswer(answer: EgressResult, now: number): Reading<Answer> {
  if (!answer.ok) {
    return answer.failure === "busy" ? throttled(answer.detail, 1) : failed(answer.failure, answer.detail);
  }
  const { status, contentType, retryAfter } = answer;
  // 418 is what some exchanges say to those who did not heed 429; 503 is it only with a time to come again.
  if (status === 429 || status === 418 || (status === 503 && retryAfter !== null)) {
    return throttled(`answered HTTP ${status}`, toSeconds(retryAfter, now));
  }
  if (status !== 200) return failed("http_status", `answered HTTP ${status}`);
  if (!isJson(contentType)) {
    return failed("content_type", `answered ${contentType || "no content type"} instead of JSON`);
  }
  const document = parseDocument(answer.text);
  return document.ok ? read({ document: document.value, text: answer.text }) : document;
}

/** A Retry-After in seconds, from 1 to `MAX_RETRY_AFTER`; 1 if it says nothing that can be read. */
function toSeconds(retryAfter: string | null, now: number): number {
  const text = retryAfter?.trim() ?? "";
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1_000;
  return Number.isNaN(seconds) ? 1 : Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER);
}

function isJson(contentType: string): boolean {
  const [type = ""] = contentType.split(";", 1);
  return /^application\/(?:[a-z0-9.+-]+\+)?json$/i.test(type.trim());
}
