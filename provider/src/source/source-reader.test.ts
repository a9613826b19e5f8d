import { err, ok } from "@dataset-oracle/protocol/result";
import type { EgressResult } from "@dataset-oracle/service/egress/egress";
import { describe, expect, it } from "vitest";
import { MAX_BYTES, SourceReader } from "./source-reader.js";

const answerOf = (text: string): EgressResult =>
  ok({ status: 200, contentType: "application/json", retryAfter: null, text });
const FAILURE: EgressResult = err({ code: "timeout", detail: "no answer" });

describe("a source reader", () => {
  it.each([
    ["an answer", answerOf("7")],
    ["a failure", FAILURE],
  ])("shares %s while it is under way, and until the second in which it arrived is over", async (_, answer) => {
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

    const [first, atOnce] = await Promise.all([read(), read()]);
    expect([first.ok, atOnce]).toEqual([answer.ok, first]);
    expect(await read()).toEqual(first);
    expect(requests).toBe(1);
    second += 1n;
    expect(await read()).toEqual(first);
    expect(requests).toBe(2);
  });

  it.each([
    ["32 MiB of answers to source files", 31, { source: { name: "a", findError: () => null } }],
    ["8 MiB of answers to published specs", 7, {}],
  ])("keeps no more than %s, because a parsed answer takes up to thirty times its text", async (_, most, change) => {
    let requests = 0;
    const text = `"${"x".repeat(MAX_BYTES - 2)}"`;
    const fetchText = async () => {
      requests += 1;
      return answerOf(text);
    };
    const reader = new SourceReader({ egress: { fetchText }, timeoutMs: 1_000, hasReserve: false, now: () => 7n });
    const read = (id: number) =>
      reader.read({ method: "GET", url: `https://api.example.com/${id}`, rateLimit: null, ...change }, false);
    for (let id = 0; id < most + 2; ++id) await read(id);
    expect(requests).toBe(most + 2);
    for (let id = most + 1; id > 1; --id) await read(id);
    expect(requests).toBe(most + 2);
    await read(1);
    expect(requests).toBe(most + 3);
  });
});

describe("a source that says that its limit is used up", () => {
  const rateLimit = { perSecond: 100, burst: 100 };
  const ofSpec = (path: string) => ({ method: "GET", url: `https://api.example.com/${path}`, rateLimit }) as const;
  const ofFile = (path: string) => ({ ...ofSpec(path), source: { name: "a", findError: () => null } });

  function open() {
    const asked: string[] = [];
    const fetchText = async ({ url }: { readonly url: string }): Promise<EgressResult> => {
      asked.push(url);
      return ok({ status: 429, contentType: "application/json", retryAfter: "600", text: "{}" });
    };
    const reader = new SourceReader({ egress: { fetchText }, timeoutMs: 1_000, hasReserve: false, now: () => 7n });
    return { reader, asked };
  }

  it("is left alone for all of its pairs, and by published specs", async () => {
    const { reader, asked } = open();
    for (const request of [ofFile("one"), ofFile("other"), ofSpec("third")]) {
      expect(await reader.read(request, false)).toMatchObject({ ok: false, error: { code: "throttled" } });
    }
    expect(asked).toHaveLength(1);
  });

  it("to a published spec is still asked for its prices", async () => {
    const { reader, asked } = open();
    await reader.read(ofSpec("one"), false);
    await reader.read(ofFile("other"), false);
    expect(asked).toHaveLength(2);
  });
});
