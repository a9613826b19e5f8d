/** What the page reads from the operator. */

import type { StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

interface PageAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const operator = {
  /** The URLs of all requests of a test. */
  asked: [] as string[],
  /** The answer to every request; null where nobody answers. */
  answer: null as PageAnswer | null,
};
let getOverview: typeof import("../src/operator-api.js").getOverview;
let readHistory: typeof import("../src/live/use-history.js").readHistory;
let isQuiet: typeof import("../src/live/use-history.js").isQuiet;

beforeAll(async () => {
  // The page derives the operator's URL from its own, when its modules load.
  vi.stubGlobal("location", { href: "http://operator/oracle/v1/#/" });
  vi.stubGlobal("fetch", async (url: string) => {
    operator.asked.push(url);
    if (operator.answer === null) throw new TypeError("fetch failed");
    const { status, contentType, body, headers } = operator.answer;
    return new Response(body, { status, headers: { "content-type": contentType, ...headers } });
  });
  ({ getOverview } = await import("../src/operator-api.js"));
  ({ readHistory, isQuiet } = await import("../src/live/use-history.js"));
});
afterAll(() => void vi.unstubAllGlobals());
beforeEach(() => {
  operator.asked.length = 0;
});

test("the operator is asked below the path at which it serves the page", async () => {
  operator.answer = { status: 200, contentType: "application/json", body: '{"networks":[]}' };
  expect(await getOverview()).toEqual({ ok: true, value: { networks: [] } });
  expect(operator.asked).toEqual(["http://operator/oracle/v1/overview?"]);
});

test.each([
  [200, "text/html", "<html>Bad gateway</html>"],
  [502, "text/html", "<html>Bad gateway</html>"],
  [500, "application/json", "null"],
])(
  "an answer with the status %i that is no operator's (%s, %s) is reported as such",
  async (status, contentType, body) => {
    operator.answer = { status, contentType, body };
    expect(await getOverview()).toMatchObject({
      ok: false,
      error: {
        code: "unexpected_answer",
        detail: expect.stringContaining(`has the status ${status}`),
        retryAfter: null,
      },
    });
  },
);

test.each([
  ["17", "<html>Busy</html>", 17],
  ["17", "{}", 17],
  ["Wed, 21 Oct 2026 07:28:00 GMT", "{}", null],
  ["31536000", "{}", null],
])("Retry-After: %s, with the body %s, is read as %s seconds", async (header, body, seconds) => {
  operator.answer = { status: 503, contentType: "text/html", body, headers: { "retry-after": header } };
  expect(await getOverview()).toMatchObject({ error: { code: "unexpected_answer", retryAfter: seconds } });
});

test("an operator that cannot be reached is reported as such", async () => {
  operator.answer = null;
  expect(await getOverview()).toMatchObject({ ok: false, error: { code: "unreachable" } });
});

const ID = { networkId: 42, dataset: "0x1", key: "SPOTPX/ETH-USD" };
/** The operator's largest answer. */
const LIMIT = 999;

/** Rounds one second apart, the newest first, each in the block of its number. */
const rounds = (newest: number, count: number, hash = "0x"): StoredUpdate[] =>
  Array.from({ length: count }, (_, age) => ({
    status: "OK",
    value: "1",
    timestamp: newest - age,
    block_number: newest - age,
    transaction_hash: hash,
  }));

const answerWith = (updates: readonly StoredUpdate[], before: StoredUpdate | null, from: number) => {
  const history = { network_id: 42, dataset: "0x1", key: ID.key, key_hex: "0x", from, to: 0, updates, before };
  operator.answer = { status: 200, contentType: "application/json", body: JSON.stringify(history) };
};
const asked = (name: string) => operator.asked.map((url) => new URLSearchParams(url.split("?")[1]).get(name));

test("a short history is read with one request, with the round before it", async () => {
  const [before] = rounds(90, 1);
  answerWith(rounds(110, 3), before ?? null, 90);
  expect(await readHistory(ID, null, 100)).toEqual({
    ok: true,
    value: { updates: rounds(110, 3), before, isWhole: true },
  });
  expect([asked("from_time"), asked("to"), asked("limit")]).toEqual([["100"], [null], [String(LIMIT)]]);
});

test("a long history is read in a few answers, each ending before the one before, and then said not to be whole", async () => {
  answerWith(rounds(5_000, LIMIT), null, 4_002);
  expect(await readHistory(ID, null, null)).toMatchObject({ ok: true, value: { before: null, isWhole: false } });
  expect([asked("to"), asked("from_time")]).toEqual([
    [null, "4001", "4001"],
    [null, null, null],
  ]);
});

test("a history that reaches back to the first block is whole", async () => {
  answerWith(rounds(998, LIMIT), null, 0);
  expect(await readHistory(ID, null, null)).toMatchObject({ ok: true, value: { isWhole: true } });
  expect(operator.asked.length).toBe(1);
});

test("of a known history only the newest rounds are read again, and replace those of a reorganization", async () => {
  const known = { updates: rounds(1_000, 300), before: null, isWhole: false };
  answerWith(rounds(1_002, 122, "0xnew"), null, 0);
  const got = await readHistory(ID, known, 500);
  expect(asked("from_time")).toEqual(["880"]);
  expect(got).toEqual({
    ok: true,
    value: { updates: [...rounds(1_002, 122, "0xnew"), ...rounds(879, 179)], before: null, isWhole: false },
  });
});

test("a history that is known until too long ago is read anew", async () => {
  const known = { updates: rounds(1_000, 3), before: null, isWhole: true };
  answerWith(rounds(9_000, LIMIT), null, 0);
  const got = await readHistory(ID, known, 7_000);
  expect(got).toEqual({ ok: true, value: { updates: rounds(9_000, LIMIT), before: null, isWhole: true } });
  expect(asked("from_time")).toEqual(["880", "7000"]);
});

test("an answer that fails fails the whole reading: nothing is shown by halves", async () => {
  operator.answer = {
    status: 429,
    contentType: "application/problem+json",
    body: JSON.stringify({ code: "too_many_requests", title: "Too many.", detail: "Wait." }),
    headers: { "retry-after": "7" },
  };
  expect(await readHistory(ID, null, 1)).toMatchObject({
    ok: false,
    error: { code: "too_many_requests", retryAfter: 7 },
  });
});

test("a new round is read at once where none was read for twelve seconds, and not before the first reading", () => {
  const quiet = [isQuiet(null, 99_000), isQuiet({ at: 1_000 }, 12_999), isQuiet({ at: 1_000 }, 13_000)];
  expect(quiet).toEqual([false, false, true]);
});
