import { describe, expect, test } from "vitest";
import {
  classifyNodeError,
  type EndpointFailure,
  type ErrorMeaning,
  MEANINGS,
  meaningOf,
  NODE_ERROR_TEXTS,
  waitNamedIn,
} from "./node-errors.js";

// test/transaction-queue.test.ts takes anvil's texts from anvil itself.
test("each listed text means what stands beside it, in any case and within other words, and is listed once", () => {
  for (const [text, kind] of NODE_ERROR_TEXTS) {
    expect([text, classifyNodeError(text)]).toEqual([text, kind]);
    expect(classifyNodeError(`Tx: ${text.toUpperCase()}: next nonce 5, tx nonce 4`)).toBe(kind);
  }
  expect(new Set(NODE_ERROR_TEXTS.map(([text]) => text)).size).toBe(NODE_ERROR_TEXTS.length);
});

test("of two texts in one message the longer counts, but a revert's before any, and an unnamed limit after any", () => {
  const weight = ([text, kind]: (typeof NODE_ERROR_TEXTS)[number]) =>
    kind === "reverted" ? 1_000 : kind === "over_limit" ? 0 : text.length;
  for (const one of NODE_ERROR_TEXTS)
    for (const other of NODE_ERROR_TEXTS.filter((candidate) => weight(candidate) < weight(one))) {
      expect([one, other, classifyNodeError(`${one[0]}; ${other[0]}`)]).toEqual([one, other, one[1]]);
      expect([other, one, classifyNodeError(`${other[0]}; ${one[0]}`)]).toEqual([other, one, one[1]]);
    }
});

const call: EndpointFailure = {
  ...{ method: "eth_call", isOfPending: false, status: 200, code: -32000, message: "", hasRevertData: false },
};
const logs = { method: "eth_getLogs" };
const submission = { method: "eth_sendRawTransaction" };
const html = { code: null, message: "answered HTTP 200 without a JSON-RPC answer" };

/** What decides: the text, else the code, else the HTTP status; the rest of it is in reported-answers.test.ts. */
const ROWS: Readonly<Record<string, readonly (readonly [Partial<EndpointFailure>, ErrorMeaning])[]>> = {
  "the chain's own answer to a call": [
    [{ message: "execution reverted: rate limit exceeded" }, "reverted"],
    [{ code: 3 }, "reverted"],
    [{ message: "VM Exception while processing transaction: invalid opcode" }, "invalid_opcode"],
  ],
  "the endpoint does not offer this kind of request": [
    [{ code: -32601, message: "Unsupported" }, "not_offered"],
    [{ code: -32004 }, "not_offered"],
    [{ code: -32602, message: "invalid block parameter: pending" }, "not_offered"],
    [{ code: -32602, message: "invalid argument 1", isOfPending: true }, "not_offered"],
    [{ code: -32005, message: "query returned more than 10000 results", ...logs }, "not_offered"],
    [{ code: -32005, message: "limit exceeded", ...logs }, "not_offered"],
    [{ code: -32614, message: "eth_getLogs is limited to a 10,000 range", status: 413, ...logs }, "not_offered"],
    [{ message: "query timeout exceeded", ...logs }, "not_offered"],
    [{ message: "busy", status: 500, ...logs }, "not_offered"],
  ],
  "the endpoint cannot answer this very request": [
    [{ code: 4444, message: "history unavailable", ...logs }, "out_of_reach"],
    [{ ...html, message: "answered with more than 8388608 bytes", status: 0, ...logs }, "out_of_reach"],
  ],
  "the endpoint lags, or has lost state": [
    [{ code: -32001 }, "behind"],
    [{ message: "missing trie node 0abc (path ) state 0xabc is not available, not found" }, "behind"],
    [{ code: -32602, message: "block range extends beyond current head block", ...logs }, "behind"],
  ],
  "a submission that the node's pool and settings refuse": [
    [{ message: "nonce too low", status: 504, ...submission }, "nonce_too_low"],
    [{ message: "transaction gas price below minimum: gas tip cap 0, minimum needed 1", ...submission }, "underpriced"],
    [{ message: "INTERNAL_ERROR: could not replace existing tx", ...submission }, "replacement_underpriced"],
    [{ message: "tx fee (1.10 ether) exceeds the configured cap (1.00 ether)", ...submission }, "fee_cap_exceeded"],
    [{ code: -32005, message: "Transaction gas limit exceeds block gas limit", ...submission }, "gas_refused"],
  ],
  "too busy": [
    [{ code: 429 }, "throttled"],
    [{ code: -32005, message: "limit exceeded" }, "throttled"],
    [{ code: -32005 }, "throttled"],
    [{ message: "rate limit exceeded", status: 503, ...logs }, "throttled"],
    [{ message: "busy", status: 500 }, "throttled"],
    [{ message: "busy", status: 429, ...submission }, "throttled"],
  ],
  "no answer": [
    [{ ...html, status: 429, ...logs }, "no_answer"],
    [{ ...html, message: "ECONNREFUSED", status: 0, ...logs }, "no_answer"],
    [{ ...html, message: "answered with more than 8388608 bytes", status: 0, ...submission }, "no_answer"],
    [{ message: "busy", status: 502 }, "no_answer"],
    [{ message: "busy", status: 504, ...submission }, "no_answer"],
  ],
  "anything else": [
    [{ message: "busy" }, "other"],
    [{ message: "busy", status: 400 }, "other"],
    [{ message: "busy", status: 499 }, "other"],
    [{ code: -32602, message: "invalid argument 2" }, "other"],
  ],
};

describe.each(Object.entries(ROWS))("%s", (_, rows) => {
  test.each(rows)("%j: %s", (failure, kind) => {
    expect(meaningOf({ ...call, ...failure })).toBe(kind);
  });
});

test("of several errors, the one that says most about what to do comes first, after any that leaves it open", () => {
  const last: ErrorMeaning[] = ["other", "reverted", "not_offered", "not_taken"];
  const refusals: ErrorMeaning[] = [...last, "insufficient_funds", "underpriced", "nonce_too_low"];
  const kinds: ErrorMeaning[] = [...refusals, "no_answer", "timeout", "already_known"];
  expect(kinds.toSorted((a, b) => MEANINGS[a].rank - MEANINGS[b].rank)).toEqual(kinds.toReversed());
});

test.each([
  ["sequencer temporarily paused, retry after 3s", 3_000],
  ["Retry after 3 seconds", 3_000],
  ["try again in 250ms", 250],
  ["please try again in 1.5 s", 1_500],
  ["retry-after: 2", 2_000],
  ["Retry in 2 minutes", 120_000],
  ["please try again", null],
  ["execution reverted", null],
])("%s asks for %s ms", (message, ms) => {
  expect(waitNamedIn(message)).toBe(ms);
});
