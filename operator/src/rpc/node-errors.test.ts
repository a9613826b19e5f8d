import { describe, expect, test } from "vitest";
import {
  classifyNodeError,
  type EndpointFailure,
  meaningOf,
  NODE_ERROR_TEXTS,
  type NodeErrorKind,
  rankOfRefusal,
} from "./node-errors.js";

// test/anvil-transaction-errors.test.ts takes anvil's texts from anvil itself.
test("each listed text means what stands beside it, in any case and within other words, and is listed once", () => {
  for (const [text, kind] of NODE_ERROR_TEXTS) {
    expect([text, classifyNodeError(text)]).toEqual([text, kind]);
    expect(classifyNodeError(`Tx: ${text.toUpperCase()}: next nonce 5, tx nonce 4`)).toBe(kind);
  }
  expect(new Set(NODE_ERROR_TEXTS.map(([text]) => text)).size).toBe(NODE_ERROR_TEXTS.length);
});

const call: EndpointFailure = {
  method: "eth_call",
  isOfPending: false,
  status: 200,
  code: -32000,
  message: "",
  hasRevertData: false,
};
const logs = { method: "eth_getLogs" };
const submission = { method: "eth_sendRawTransaction" };
const html = { code: null, message: "answered HTTP 200 without a JSON-RPC answer" };

/** The rows of the table of meanings, with answers that were reported from nodes and vendors. */
const ROWS: Readonly<Record<string, readonly (readonly [Partial<EndpointFailure>, NodeErrorKind])[]>> = {
  "the chain's own answer to a call": [
    [{ code: 3, message: "execution reverted", hasRevertData: true }, "reverted"],
    [{ message: "execution reverted" }, "reverted"],
    [{ message: "execution reverted: rate limit exceeded" }, "reverted"],
    [{ code: -32015, message: "VM execution error." }, "reverted"],
    [{ code: -32015, message: "Reverted", hasRevertData: true }, "reverted"],
    [{ code: 3 }, "reverted"],
    [{ message: "VM Exception while processing transaction: invalid opcode" }, "invalid_opcode"],
    [{ message: "invalid opcode: MCOPY" }, "invalid_opcode"],
    [{ message: "EVM error NotActivated" }, "invalid_opcode"],
    [{ message: "EVM error: OpcodeNotFound" }, "invalid_opcode"],
    [{ message: "BadInstruction" }, "invalid_opcode"],
    [{ message: "INVALID_OPERATION" }, "invalid_opcode"],
  ],
  "the endpoint does not offer this kind of request": [
    [{ code: -32601, message: "the method eth_simulateV1 does not exist/is not available" }, "not_offered"],
    [{ code: -32601, message: "Unsupported" }, "not_offered"],
    [{ message: "pending block is not available" }, "not_offered"],
    [{ code: -32602, message: "invalid block parameter: pending", isOfPending: true }, "not_offered"],
    [{ code: -32602, message: "invalid block parameter: pending" }, "not_offered"],
    [{ code: -32602, message: "invalid argument 1", isOfPending: true }, "not_offered"],
    [{ code: -32602, message: "range 1000000 exceeds limit of 10000", ...logs }, "not_offered"],
    [{ code: -32602, message: "invalid params", ...logs }, "not_offered"],
    [{ code: -32005, message: "query returned more than 10000 results", ...logs }, "not_offered"],
    [{ code: -32005, message: "limit exceeded", ...logs }, "not_offered"],
    [{ code: -32614, message: "eth_getLogs is limited to a 10,000 range", status: 413, ...logs }, "not_offered"],
    [{ message: "Under the Free tier plan, requests may have up to a 10 block range.", ...logs }, "not_offered"],
    [{ message: "query timeout exceeded", ...logs }, "not_offered"],
    [{ ...html, message: "no answer within 2000 ms", status: 0, ...logs }, "not_offered"],
    [{ ...html, status: 503, ...logs }, "not_offered"],
    [{ ...html, status: 403 }, "not_offered"],
    [{ message: "forbidden", status: 403 }, "not_offered"],
    [{ ...html, status: 401 }, "not_offered"],
    [{ ...html, status: 402 }, "not_offered"],
  ],
  "the endpoint cannot answer this very request": [
    [{ ...html, status: 413 }, "out_of_reach"],
    [{ message: "request entity too large", status: 413 }, "out_of_reach"],
    [{ code: 4444, message: "pruned history unavailable", ...logs }, "out_of_reach"],
    [{ message: "history has been pruned for this block", ...logs }, "out_of_reach"],
    [{ code: 4444 }, "out_of_reach"],
    [{ ...html, message: "answered with more than 8388608 bytes", status: 0, ...logs }, "out_of_reach"],
  ],
  "the endpoint lags, or has lost state": [
    [{ message: "header not found" }, "behind"],
    [{ code: -32001, message: "Unknown block" }, "behind"],
    [{ code: -32001 }, "behind"],
    [{ message: "missing trie node 0abc (path ) state 0xabc is not available, not found" }, "behind"],
    [{ message: "getStateObject (0xabc) error: layer stale" }, "behind"],
    [{ message: "historical state is not available" }, "behind"],
    [{ code: -32602, message: "block range extends beyond current head block", ...logs }, "behind"],
    [{ code: -32000, message: "invalid block range params", ...logs }, "behind"],
  ],
  "a submission that is accepted, or perhaps mined": [
    [{ code: -32602, message: "Tx: [0x12] already Imported", ...submission }, "already_known"],
    [{ message: "nonce too low: next nonce 5, tx nonce 4", ...submission }, "nonce_too_low"],
    [{ message: "nonce too low", status: 504, ...submission }, "nonce_too_low"],
  ],
  "a submission that the node's pool and settings refuse": [
    [{ message: "transaction underpriced: gas tip cap 1, minimum needed 2", ...submission }, "underpriced"],
    [{ message: "transaction gas price below minimum: gas tip cap 0, minimum needed 1", ...submission }, "underpriced"],
    [{ message: "FeeTooLow, EffectivePriorityFeePerGas too low 0 < 1, BaseFee: 7", ...submission }, "underpriced"],
    [{ message: "gas tip cap 0, minimum needed 1", ...submission }, "underpriced"],
    [{ message: "INTERNAL_ERROR: could not replace existing tx", ...submission }, "replacement_underpriced"],
    [{ message: "tx fee (1.10 ether) exceeds the configured cap (1.00 ether)", ...submission }, "fee_cap_exceeded"],
    [{ message: "insufficient funds for gas * price + value: balance 0", ...submission }, "insufficient_funds"],
    [{ message: "exceeds block gas limit", ...submission }, "not_taken"],
    [{ code: -32005, message: "Transaction gas limit exceeds block gas limit", ...submission }, "not_taken"],
  ],
  "no answer": [
    [{ code: 429, message: "Your app has exceeded its compute units per second capacity." }, "no_answer"],
    [{ code: -32005, message: "daily request count exceeded, request rate limited" }, "no_answer"],
    [{ code: -32005, message: "limit exceeded" }, "no_answer"],
    [{ code: -32005 }, "no_answer"],
    [{ code: -32007, message: "50/second request limit reached" }, "no_answer"],
    [{ message: "Exceeded the quota usage" }, "no_answer"],
    [{ message: "rate limit exceeded", ...logs }, "no_answer"],
    [{ code: 429, message: "Too many requests", status: 429, ...logs }, "no_answer"],
    [{ ...html, status: 429, ...logs }, "no_answer"],
    [html, "no_answer"],
    [{ ...html, message: "answered in an unexpected shape" }, "no_answer"],
    [{ ...html, status: 502 }, "no_answer"],
    [{ ...html, message: "ECONNREFUSED", status: 0, ...logs }, "no_answer"],
    [{ message: "busy", status: 503 }, "no_answer"],
    [{ message: "busy", status: 504, ...submission }, "no_answer"],
    [{ ...html, message: "no answer within 2000 ms", status: 0 }, "timeout"],
    [{ code: -32603, message: "Timeout expired" }, "timeout"],
    [{ code: -32002, message: "request timed out" }, "timeout"],
  ],
  "anything else": [
    [{ message: "busy" }, "other"],
    [{ message: "busy", status: 400 }, "other"],
    [{ code: -32602, message: "invalid argument 2" }, "other"],
    [{ code: -32603, message: "Internal error" }, "other"],
    [{ message: "txpool is full", ...submission }, "other"],
  ],
};

describe.each(Object.entries(ROWS))("%s", (_, rows) => {
  test.each(rows)("%j: %s", (failure, kind) => {
    expect(meaningOf({ ...call, ...failure })).toBe(kind);
  });
});

test("of several refusals, the one that says most about what to do comes first", () => {
  const kinds: NodeErrorKind[] = [
    "reverted",
    "not_offered",
    "not_taken",
    "insufficient_funds",
    "underpriced",
    "nonce_too_low",
    "already_known",
  ];
  const ranked = kinds.toSorted((a, b) => rankOfRefusal(a) - rankOfRefusal(b));
  expect(ranked).toEqual(kinds.toReversed());
});
