import type { FetchResult } from "@dataset-oracle/service/fetch";
import { type JsonDocument, parseDocument } from "./document.js";
import { failed, type Reading } from "./result.js";

/** Judges what a source answered: only HTTP 200 with JSON counts. */
export function judgeAnswer(answer: FetchResult): Reading<JsonDocument> {
  if (!answer.ok) return failed(answer.failure, answer.detail);
  if (answer.status !== 200) return failed("http_status", `answered HTTP ${answer.status}`);
  if (!isJson(answer.contentType)) {
    return failed("content_type", `answered ${answer.contentType || "no content type"} instead of JSON`);
  }
  return parseDocument(answer.text);
}

function isJson(contentType: string): boolean {
  const [type = ""] = contentType.split(";", 1);
  return /^application\/(?:[a-z0-9.+-]+\+)?json$/i.test(type.trim());
}
