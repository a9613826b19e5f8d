import type { StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { useStubOperator } from "./support/stub-operator.js";

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

const operator = useStubOperator();
let readHistory: typeof import("../src/live/use-history.js").readHistory;
let isQuiet: typeof import("../src/live/use-history.js").isQuiet;

beforeAll(async () => {
  ({ readHistory, isQuiet } = await import("../src/live/use-history.js"));
});
beforeEach(() => {
  operator.asked.length = 0;
});

const answerWith = (updates: readonly StoredUpdate[], before: StoredUpdate | null, from: number) => {
  operator.answer = {
    status: 200,
    contentType: "application/json",
    body: JSON.stringify({ network_id: 42, dataset: "0x1", key: ID.key, key_hex: "0x", from, to: 0, updates, before }),
  };
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
  expect([isQuiet(null, 99_000), isQuiet({ at: 1_000 }, 12_999), isQuiet({ at: 1_000 }, 13_000)]).toEqual([
    false,
    false,
    true,
  ]);
});
