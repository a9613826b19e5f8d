import { ok } from "@dataset-oracle/protocol/result";
import { describe, expect, test } from "vitest";
import { judgeAnswer, judgeText } from "./judge-answer.js";

const answer = (contentType: string, text: string) => ok({ status: 200, contentType, retryAfter: null, text });
const PAGE = `<!DOCTYPE html>
<html><head><style>body { color: red }</style><title>Just a moment...</title></head>
<body><script>let x = "<b>";</script><h1>Checking your browser</h1></body></html>`;

describe("an answer whose body is JSON", () => {
  test.each(["application/json", "text/plain; charset=utf-8", "application/javascript", "text/html", ""])(
    "is read as JSON with the content type %j",
    (contentType) => {
      const judged = answer(contentType, '{"price": 1.50}');
      expect(judgeAnswer(judged, 0, () => null)).toMatchObject({
        ok: true,
        value: { document: { price: { value: "1.50" } } },
      });
      expect(judgeText(judged, 0)).toEqual({ ok: true, value: { text: '{"price": 1.50}' } });
    },
  );
});

describe("an HTML page", () => {
  test("is named as such, with its first words, whatever its content type says", () => {
    const error = { code: "not_json", detail: "is HTML, not JSON: Just a moment... Checking your browser" };
    for (const contentType of ["text/html", "application/json"]) {
      expect(judgeAnswer(answer(contentType, PAGE), 0, () => null)).toEqual({ ok: false, error });
      expect(judgeText(answer(contentType, PAGE), 0)).toEqual({ ok: false, error });
    }
  });

  test("shows no more than a few words", () => {
    const judged = judgeText(answer("text/html", `  <html>${"word ".repeat(10_000)}`), 0);
    expect(judged).toMatchObject({ ok: false, error: { detail: expect.stringMatching(/^.{20,120}$/) } });
  });
});

test("a call of a function around JSON is not JSON", () => {
  expect(judgeAnswer(answer("application/javascript", 'callback({"price":1})'), 0, () => null)).toMatchObject({
    ok: false,
    error: { code: "not_json" },
  });
});

test.each<[status: number, retryAfter: string | null, outcome: string, seconds?: number]>([
  [429, null, "throttled", 1],
  [429, "7", "throttled", 7],
  [418, "99999999", "throttled", 600],
  [503, "3", "throttled", 3],
  [429, "soon", "throttled", 1],
  [503, null, "http_status"],
  [201, null, "http_status"],
  [451, "7", "http_status"],
])("HTTP %d with the Retry-After %j means %s", (status, retryAfter, code, seconds) => {
  const judged = ok({ status, contentType: "application/json", retryAfter, text: "1" });
  for (const reading of [judgeAnswer(judged, 0, () => null), judgeText(judged, 0)]) {
    expect(reading).toMatchObject({ ok: false, error: { code, detail: `answered HTTP ${status}` } });
    expect(reading.ok ? null : reading.error.retryAfter).toBe(seconds);
  }
});
