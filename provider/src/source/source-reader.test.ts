import { err, ok } from "@dataset-oracle/protocol/result";
import type { Egress, EgressResult } from "@dataset-oracle/service/untrusted/egress";
import { describe, expect, test } from "vitest";
import { contextAt } from "../../test/support/test-context.js";
import { MAX_BYTES, SourceReader } from "./source-reader.js";

const answerOf = (text: string): EgressResult =>
  ok({ status: 200, contentType: "application/json", retryAfter: null, text });
const readerOf = (fetchText: Egress["fetchText"], now = () => 7n, hasReserve = false) =>
  new SourceReader({ fetchText }, { fetchText }, contextAt(now), { timeoutMs: 1_000, hasReserve });
const FAILURE: EgressResult = err({ code: "timeout", detail: "no answer" });

describe("a source reader", () => {
  test.each([
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
    const reader = readerOf(fetchText, () => second);
    const read = () => reader.read({ method: "GET", url: "https://api.example.com/", rateLimit: null }, false);

    const [first, atOnce] = await Promise.all([read(), read()]);
    expect([first.ok, atOnce]).toEqual([answer.ok, first]);
    expect(await read()).toEqual(first);
    expect(requests).toBe(1);
    second += 1n;
    expect(await read()).toEqual(first);
    expect(requests).toBe(2);
  });

  test.each([
    ["32 MiB of answers to source files", 31, { source: { name: "a", findError: () => null } }],
    ["8 MiB of answers to published specs", 7, {}],
  ])("keeps no more than %s, because a parsed answer takes up to thirty times its text", async (_, most, change) => {
    let requests = 0;
    const text = `"${"x".repeat(MAX_BYTES - 2)}"`;
    const fetchText = async () => {
      requests += 1;
      return answerOf(text);
    };
    const reader = readerOf(fetchText);
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
    const reader = readerOf(fetchText);
    return { reader, asked };
  }

  test("is left alone for all of its pairs, and by published specs", async () => {
    const { reader, asked } = open();
    for (const request of [ofFile("one"), ofFile("other"), ofSpec("third")]) {
      expect(await reader.read(request, false)).toMatchObject({ ok: false, error: { code: "throttled" } });
    }
    expect(asked).toHaveLength(1);
  });

  test("to a published spec is still asked for its prices", async () => {
    const { reader, asked } = open();
    await reader.read(ofSpec("one"), false);
    await reader.read(ofFile("other"), false);
    expect(asked).toHaveLength(2);
  });
});

describe("with operators, a request of another caller", () => {
  const rateLimit = { perSecond: 100, burst: 100 };
  const request = (path: string) => ({ method: "GET", url: `https://api.example.com/${path}`, rateLimit }) as const;

  /** A reader of a host that answers each request only when it is told to. */
  function open() {
    const asked: { readonly path: string; answer(answer: EgressResult): void }[] = [];
    const fetchText = ({ url }: { readonly url: string }) =>
      new Promise<EgressResult>((answer) => void asked.push({ path: url.replace(/.*\//, ""), answer }));
    const reader = readerOf(fetchText, () => 7n, true);
    const turns = () => new Promise((resolve) => setImmediate(resolve));
    return { reader, asked, turns };
  }

  test("is not joined by an operator's while it is under way, nor repeated to it when it fails", async () => {
    const { reader, asked, turns } = open();
    const readings = [reader.read(request("a"), false), reader.read(request("a"), true)];
    await turns();
    expect(asked).toHaveLength(2);
    asked[0]?.answer(FAILURE);
    expect(await readings[0]).toMatchObject({ ok: false, error: { code: "timeout" } });
    // Others join the operator's, and get what it finds.
    const other = reader.read(request("a"), true);
    asked[1]?.answer(answerOf("7"));
    expect(await Promise.all([readings[1], other])).toEqual([ok({ text: "7" }), ok({ text: "7" })]);
    expect(await reader.read(request("a"), false)).toEqual(ok({ text: "7" }));
    expect(asked).toHaveLength(2);
  });

  test("that succeeds is shared with an operator in the same second", async () => {
    const { reader, asked, turns } = open();
    const reading = reader.read(request("a"), false);
    await turns();
    asked[0]?.answer(answerOf("7"));
    expect(await reading).toEqual(ok({ text: "7" }));
    expect(await reader.read(request("a"), true)).toEqual(ok({ text: "7" }));
    expect(asked).toHaveLength(1);
  });

  test("leaves most connections to operators, and waits for its own without having been sent", async () => {
    const { reader, asked, turns } = open();
    const others = Array.from({ length: 7 }, (_, i) => reader.read(request(`other${i}`), false));
    await turns();
    const operators = Array.from({ length: 13 }, (_, i) => reader.read(request(`operator${i}`), true));
    await turns();
    expect(asked.map(({ path }) => path.replace(/\d+/, ""))).toEqual([
      ...Array(4).fill("other"),
      ...Array(12).fill("operator"),
    ]);
    asked[0]?.answer(answerOf("7"));
    expect((await others[0])?.ok).toBe(true);
    await turns();
    expect(asked.map(({ path }) => path).at(-1)).toBe("other4");
    for (let i = 1; i < 17; ++i) asked[i]?.answer(answerOf("7"));
    await turns();
    for (const { answer } of asked.slice(17)) answer(answerOf("7"));
    for (const reading of await Promise.all([...others, ...operators])) expect(reading.ok).toBe(true);
  });
});
