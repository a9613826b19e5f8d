import { err, ok } from "@dataset-oracle/protocol/result";
import type { EgressResult } from "@dataset-oracle/service/egress/egress";
import { expect, it } from "vitest";
import { SourceReader } from "./source-reader.js";

const ANSWER: EgressResult = ok({ status: 200, contentType: "application/json", retryAfter: null, text: "7" });
const FAILURE: EgressResult = err({ code: "timeout", detail: "no answer" });

it.each([
  ["an answer", ANSWER],
  ["a failure", FAILURE],
])("a source reader shares %s until the second in which it arrived is over", async (_, answer) => {
  let second = 7n;
  let requests = 0;
  const fetchText = async () => {
    requests += 1;
    // The first one arrives a second after it was asked for.
    if (requests === 1) second += 1n;
    return answer;
  };
  const reader = new SourceReader({ egress: { fetchText }, timeoutMs: 1_000, hasReserve: false, now: () => second });
  const read = () => reader.read({ method: "GET", url: "https://api.example.com/", rateLimit: null }, false);

  const first = await read();
  expect(first.ok).toBe(answer.ok);
  expect(await read()).toEqual(first);
  expect(requests).toBe(1);
  second += 1n;
  expect(await read()).toEqual(first);
  expect(requests).toBe(2);
});
