import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { encodeErrorResult, type Hex, keccak256, numberToHex, parseGwei } from "viem";
import type { NodeReply } from "./chain/node.js";

/** Does what a node is asked for, and returns its own answer. */
type HonestNode = (method: string, params: readonly unknown[]) => NodeReply;

/**
 * What a node says that is not so, by the rows of `operator/test/rpc-behaviours.test.ts` and
 * `operator/test/lying-endpoints.test.ts`.
 */
export interface NodeLie {
  readonly name: string;
  /** Answers a call in place of the node. @returns Null for a call about which it does not lie. */
  answer(method: string, params: readonly unknown[], node: HonestNode): NodeReply | null;
}

const EXECUTIONS = ["eth_call", "eth_estimateGas", "eth_simulateV1"];
const SUBMISSIONS = ["eth_sendRawTransaction"];
const RECEIPTS = ["eth_getTransactionReceipt"];
const BLOCKS = ["eth_getBlockByNumber"];

const always = (name: string, methods: readonly string[], reply: NodeReply): NodeLie => ({
  name,
  answer: (method) => (methods.includes(method) ? reply : null),
});

/** @param change Changes what the node has found. */
const changed = (name: string, methods: readonly string[], change: (found: object) => object): NodeLie => ({
  name,
  answer(method, params, node) {
    const reply = methods.includes(method) ? node(method, params) : null;
    return reply !== null && "result" in reply && reply.result !== null
      ? { result: change(reply.result as object) }
      : reply;
  },
});

/** @param count Changes the number of a sender's transactions, with those that are pending. */
const counts = (name: string, count: (own: number) => number): NodeLie => ({
  name,
  answer(method, params, node) {
    if (method !== "eth_getTransactionCount" || params[1] !== "pending") return null;
    const reply = node(method, params);
    return "result" in reply ? { result: numberToHex(count(Number(reply.result))) } : reply;
  },
});

type Listing = Readonly<Record<"pending" | "queued", Readonly<Record<number, object>>>>;

/** A pending transaction that its sender has not signed, with fees that nobody outbids. */
function inventedTransaction(from: Hex, nonce: Hex): object {
  const fee = numberToHex(parseGwei("1000"));
  return {
    ...{ from, to: from, input: "0x", nonce, value: "0x0", gas: "0x5208", gasPrice: fee, maxFeePerGas: fee },
    ...{ maxPriorityFeePerGas: fee, chainId: "0x2a", type: "0x2", accessList: [], hash: keccak256("0x01") },
    ...{ r: keccak256("0x02"), s: "0x7", v: "0x0", yParity: "0x0" },
    ...{ blockHash: null, blockNumber: null, transactionIndex: null },
  };
}

const COUNTS_ONE_MORE = counts("one pending transaction more", (own) => own + 1);

/** Shows and counts one pending transaction more. */
const INVENTS_ONE: NodeLie = {
  name: "an invented transaction",
  answer(method, params, node) {
    if (method !== "txpool_contentFrom") return COUNTS_ONE_MORE.answer(method, params, node);
    const [reply, count] = [node(method, params), node("eth_getTransactionCount", [params[0], "pending"])];
    if (!("result" in reply && "result" in count)) return reply;
    const { pending, queued } = reply.result as Listing;
    const nonce = count.result as Hex;
    return {
      result: { pending: { ...pending, [Number(nonce)]: inventedTransaction(params[0] as Hex, nonce) }, queued },
    };
  },
};

const QUEUES_AN_IMPOSSIBLE_ONE = changed("a transaction with an impossible nonce", ["txpool_contentFrom"], (found) => {
  const { pending, queued } = found as Listing;
  return { pending, queued: { ...queued, 7: { nonce: `0x${"f".repeat(60)}`, input: "0x", gas: "0x1" } } };
});

const FEES_ABOVE_CAP = { baseFeePerGas: numberToHex(parseGwei("501")) };
const NO_QUORUM = encodeErrorResult({ abi: datasetAbi, errorName: "NoQuorum", args: [1n, 3n] });
const refusal = (message: string): NodeReply => ({ error: { code: -32_000, message } });

export const NODE_LIES: readonly NodeLie[] = [
  ...[COUNTS_ONE_MORE, INVENTS_ONE, QUEUES_AN_IMPOSSIBLE_ONE],
  counts("5,000,000 pending transactions", () => 5_000_000),
  counts("nearly 2^53 pending transactions", () => Number.MAX_SAFE_INTEGER - 1),
  changed("fees above the cap", BLOCKS, (block) => ({ ...block, ...FEES_ABOVE_CAP })),
  changed("receipts without logs", RECEIPTS, (receipt) => ({ ...receipt, logs: [] })),
  always("no receipts", RECEIPTS, { result: null }),
  always("empty results", EXECUTIONS, { result: "0x" }),
  always("reverts", EXECUTIONS, { error: { code: 3, message: "execution reverted", data: NO_QUORUM } }),
  always("reverts without a reason", EXECUTIONS, refusal("execution reverted")),
  always("another hash", SUBMISSIONS, { result: keccak256("0x03") }),
  always("known already", SUBMISSIONS, refusal("already known")),
  always("nonce too low", SUBMISSIONS, refusal("nonce too low")),
  always("nonce too high", SUBMISSIONS, { error: { code: -32_006, message: "Nonce too high" } }),
  always("no funds", SUBMISSIONS, refusal("insufficient funds for gas * price + value")),
];
