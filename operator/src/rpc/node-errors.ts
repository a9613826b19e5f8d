/** The only call that changes something. */
export const SUBMIT = "eth_sendRawTransaction";

/** What an error that an RPC endpoint answers says about a transaction, the endpoint and the chain. */
interface Meaning {
  /** Whether a node has taken a transaction that is answered so; `if shown`: only if a node shows it. */
  readonly accepted: "yes" | "if shown" | "perhaps" | "no";
  /** What becomes of the endpoint: it is as good as one that gave a result, ready as before, asked last for this kind of request, or quarantined. */
  readonly endpoint: "works" | "stays" | "is asked last" | "is quarantined";
  /** True for the chain's own answer to a call: another endpoint would give the same. */
  readonly isFinal: boolean;
  /**
   * Of several errors of one submission the lowest counts: that a node has the transaction, then that one may have it, and
   * then the refusal that says most about what to do.
   */
  readonly rank: number;
}

const refusal = (rank: number, endpoint: Meaning["endpoint"] = "stays", isFinal = false) =>
  ({ accepted: "no", endpoint, isFinal, rank }) as const;

/** What each meaning of an error says. */
export const MEANINGS = {
  already_known: { accepted: "yes", endpoint: "stays", isFinal: false, rank: 0 },
  /** The node, or a gateway in front of it, gave up waiting. */
  timeout: { accepted: "perhaps", endpoint: "is quarantined", isFinal: false, rank: 1 },
  /** What came is not a node's answer, if anything came. */
  no_answer: { accepted: "perhaps", endpoint: "is quarantined", isFinal: false, rank: 2 },
  // The node's pool and settings refuse a transaction: others differ.
  nonce_too_low: { accepted: "if shown", endpoint: "stays", isFinal: false, rank: 3 },
  /** Another transaction has this nonce, and its fees are too high to be replaced by this one. */
  replacement_underpriced: refusal(4),
  /** The fees are lower than the node, or the block, accepts at all. */
  underpriced: refusal(5),
  insufficient_funds: refusal(6),
  /** The fees are higher than the node relays. */
  fee_cap_exceeded: refusal(7),
  /** The nonce leaves a gap, or is too far ahead. */
  nonce_too_high: refusal(8),
  /** The gas limit is more than a block or the node allows, or less than the calldata costs. */
  gas_refused: refusal(9),
  /** The sender has delegated code (EIP-7702), and the node holds one transaction of such an account at a time. */
  one_at_a_time: refusal(10),
  /** The node does not take the transaction for another reason, such as a full pool. */
  not_taken: refusal(11),
  /** The endpoint does not offer this kind of request: the method, the block tag, so wide a range of logs. */
  not_offered: refusal(12, "is asked last"),
  /** It cannot answer this very request, which is too large, or about history that it has pruned. */
  out_of_reach: refusal(13),
  /** It lags, or has lost state. */
  behind: refusal(14),
  /** The node says that it is too busy, or a quota used up: it has done nothing. */
  throttled: refusal(15, "is quarantined"),
  /** A limit that it does not name: of the logs that are searched, or of requests. */
  over_limit: refusal(16, "is quarantined"),
  reverted: refusal(17, "works", true),
  /** The EVM lacks an instruction. */
  invalid_opcode: refusal(18, "works", true),
  other: refusal(19),
} as const satisfies Record<string, Meaning>;

/** The meaning of an error that an RPC endpoint answers. It decides what is done next; a code alone never does. */
export type ErrorMeaning = keyof typeof MEANINGS;

/**
 * The texts that nodes answer, in lower case, and their meanings. Nodes tell the meaning in the message only: their codes
 * differ, and one code means several things. Of several in one message the longest counts: it says most. Beside each
 * stands whose source or documentation has it: geth 0dfc43ad core/txpool/errors.go, 003d175e core/error.go and
 * internal/ethapi; erigon 05916db2 txnprovider/txpool/txpoolcfg/txpoolcfg.go; nethermind, 2026,
 * Nethermind.TxPool/TxPoolErrorMessages.cs; besu 06af6b57 RpcErrorType.java; reth 00971c29
 * crates/rpc/rpc-eth-types/src/error/mod.rs; anvil 02ad6dec crates/anvil/src/eth/error.rs, or anvil 1.7.1 itself
 * (test/transaction-queue.test.ts). Texts of vendors are from reports of their users.
 */
export const NODE_ERROR_TEXTS: readonly (readonly [text: string, meaning: ErrorMeaning])[] = [
  ["execution reverted", "reverted"], // geth, Besu, Reth, anvil
  ["vm execution error", "reverted"], // Nethermind
  ["processing transaction: revert", "reverted"], // Hardhat, Ganache
  ["already known", "already_known"], // geth, Erigon, Nethermind, Reth
  ["known transaction", "already_known"], // Besu
  ["unknown transaction type", "not_taken"], // no node known, but it has the text of the line before
  ["already in mempool", "already_known"], // CometBFT
  ["already exists in cache", "already_known"], // CometBFT
  ["already imported", "already_known"], // anvil, Parity
  ["alreadyknown", "already_known"], // Nethermind
  ["alreadyimported", "already_known"], // Moonriver
  ["existing txn with same hash", "already_known"], // Erigon
  ["nonce too low", "nonce_too_low"], // geth, Erigon, Nethermind, Besu, Reth, anvil
  ["nonce is too low", "nonce_too_low"], // Parity
  ["invalid transaction nonce", "nonce_too_low"], // Arbitrum
  ["oldnonce", "nonce_too_low"], // Nethermind
  ["pool(stale)", "nonce_too_low"], // Moonriver
  ["replacement transaction underpriced", "replacement_underpriced"], // geth, Erigon, Nethermind, Besu, Reth, anvil
  ["could not replace existing tx", "replacement_underpriced"], // Erigon
  ["insufficient gas price to replace existing transaction", "replacement_underpriced"], // anvil
  ["replacement fee too low", "replacement_underpriced"], // not verified
  ["underpriced", "underpriced"], // geth, Erigon, Nethermind, Reth
  ["gas tip cap", "underpriced"], // geth
  ["gas price too low", "underpriced"], // Arbitrum, Metis
  ["gasprice is less than gas price minimum", "underpriced"], // Celo
  ["fee too low", "underpriced"], // Erigon
  ["feetoolow", "underpriced"], // older Nethermind
  ["max fee per gas less than block base fee", "underpriced"], // geth, Reth, anvil
  ["less than block base fee", "underpriced"], // Erigon, Moonbeam
  ["gas price below current base fee", "underpriced"], // Besu
  ["gas price below configured minimum gas price", "underpriced"], // Besu
  ["priority fee below minimum required priority fee", "underpriced"], // Reth
  ["insufficient funds", "insufficient_funds"], // geth, Erigon, Nethermind, Reth, anvil
  ["upfront cost exceeds account balance", "insufficient_funds"], // Besu
  ["insufficient balance", "insufficient_funds"], // zkSync
  ["insufficientfunds", "insufficient_funds"], // Nethermind
  ["not enough funds", "insufficient_funds"], // Arbitrum
  ["exceeds the configured cap", "fee_cap_exceeded"], // geth, Reth
  ["transaction fee cap exceeded", "fee_cap_exceeded"], // Besu
  ["invalid opcode", "invalid_opcode"], // geth, Erigon, Hardhat, Ganache
  ["invalid_operation", "invalid_opcode"], // Besu
  ["badinstruction", "invalid_opcode"], // Nethermind
  ["opcodenotfound", "invalid_opcode"], // anvil
  ["notactivated", "invalid_opcode"], // anvil
  ["nonce too high", "nonce_too_high"], // geth, Nethermind, Besu, Reth, anvil
  ["nonce too far in future", "nonce_too_high"], // Nethermind
  ["noncegap", "nonce_too_high"], // Nethermind
  ["nonce is too distant from current sender nonce", "nonce_too_high"], // Besu
  ["an invalid transaction with a lower nonce exists", "nonce_too_high"], // Besu
  ["future transaction tries to replace pending", "nonce_too_high"], // geth
  ["gapped-nonce", "one_at_a_time"], // geth
  ["intrinsic gas", "gas_refused"], // geth, Erigon, Nethermind, Besu, Reth, anvil
  ["floor data gas", "gas_refused"], // geth
  ["gas floor", "gas_refused"], // Reth
  ["exceeds block gas limit", "gas_refused"], // geth, Besu, Reth
  ["exceeds the block gas limit", "gas_refused"], // Reth
  ["exceeds the gas limit", "gas_refused"], // Reth
  ["gas limit too high", "gas_refused"], // geth, Besu, Reth
  ["gas limit is too high", "gas_refused"], // Erigon
  ["gas too high", "gas_refused"], // anvil
  ["gas limit reached", "gas_refused"], // geth
  ["gas limit exceeded", "gas_refused"], // vendors
  ["is greater than the cap", "gas_refused"], // Reth
  ["gas limit cap", "gas_refused"], // Besu
  ["gaslimit", "gas_refused"], // Nethermind: exceeded, cap exceeded; anvil
  ["max transaction gas limit", "gas_refused"], // Reth
  ["oversized data", "not_taken"], // geth
  ["invalid sender", "not_taken"], // geth
  ["invalid chain id", "not_taken"], // geth, Reth
  ["v, r, s values", "not_taken"], // geth
  ["pool is full", "not_taken"], // geth, Reth, Erigon
  ["pool full", "not_taken"], // Arbitrum
  ["too many transactions", "not_taken"], // Parity
  ["account limit exceeded", "not_taken"], // geth
  ["in-flight transaction limit reached", "one_at_a_time"], // geth
  ["delegation nonce gap", "one_at_a_time"], // Nethermind
  ["delegation authority has pending", "one_at_a_time"], // Nethermind
  ["already reserved", "not_taken"], // geth: address, authority
  ["does not exist/is not available", "not_offered"], // geth
  ["method not", "not_offered"], // Reth: found; Besu: enabled; vendors: allowed, supported
  ["pending block", "not_offered"], // Erigon: not found
  ["pending block is not available", "not_offered"], // geth
  ["block parameter", "not_offered"], // vendors
  ["block tag", "not_offered"], // Nimbus
  ["not supported", "not_offered"], // Nethermind, dRPC
  ["beyond current head", "behind"], // Reth
  ["beyond head", "behind"], // geth
  ["invalid block range", "behind"], // geth, of a range that starts after its head
  ["not found", "behind"], // geth: header; Erigon, Nethermind: block; EIP-1474: resource
  ["unknown block", "behind"], // Reth, Besu
  ["missing trie node", "behind"], // geth
  ["layer stale", "behind"], // geth
  ["is not available", "behind"], // geth: state
  ["but wasn't confirmed within", "timeout"], // anvil
  ["timed out", "timeout"], // geth
  ["timeout", "timeout"], // Besu, Reth, Infura
  ["request timeout", "timeout"], // dRPC, "on the free tier"
  ["deadline exceeded", "timeout"], // geth
  ["no answer within", "timeout"], // ours, of a silent endpoint
  ["context canceled", "timeout"], // geth, Erigon, gateways in Go
  ["bad gateway", "no_answer"], // gateways
  ["connection reset", "no_answer"], // Optimism, of the sequencer behind a node
  ["broken pipe", "no_answer"], // gateways in Go
  ["unexpected eof", "no_answer"], // gateways in Go
  ["server closed idle connection", "no_answer"], // gateways in Go
  ["retry after", "throttled"], // sequencers, vendors
  ["try again in", "throttled"], // vendors
  ["per second", "throttled"], // Alchemy, QuickNode
  ["too many concurrent requests", "throttled"], // Alchemy
  ["too many requests", "throttled"], // vendors
  ["rate limit", "throttled"], // Infura, vendors
  ["request limit", "throttled"], // QuickNode, GetBlock
  ["range", "not_offered"], // all, of logs: "range 9 is bigger than range limit 2"
  ["block range", "not_offered"], // Alchemy: "Under the Free tier plan, ... up to a 10 block range"
  ["prun", "out_of_reach"], // geth, Erigon, Nethermind: pruned; Parity: state pruning
  ["answered with more than", "out_of_reach"], // ours, of an answer that is too long
  ["has exceeded", "throttled"], // Alchemy
  ["quota", "throttled"], // Chainstack, BlockPI
  ["credits", "throttled"], // Infura, QuickNode
  ["capacity", "throttled"], // Alchemy
  ["free tier", "throttled"], // vendors
  ["limit exceeded", "over_limit"], // geth, Infura, BNB Chain
];

/** A contract chooses what follows the text of a revert, and any other text names the limit. */
const WEIGHTS: Partial<Record<ErrorMeaning, number>> = { reverted: Number.POSITIVE_INFINITY, over_limit: 0 };

/** Classifies a node's error by its message. An unknown text is `other`. */
export function classifyNodeError(message: string): ErrorMeaning {
  const lowerCase = message.toLowerCase();
  let [meaning, heaviest]: [ErrorMeaning, number] = ["other", -1];
  for (const [text, said] of NODE_ERROR_TEXTS) {
    const weight = WEIGHTS[said] ?? text.length;
    if (weight > heaviest && lowerCase.includes(text)) [meaning, heaviest] = [said, weight];
  }
  return meaning;
}

/** No node needs them to be one. */
const OPTIONAL_METHODS = ["eth_simulateV1", "txpool_contentFrom", "eth_getTransactionBySenderAndNonce"];

/** What an endpoint answered instead of a result. */
export interface EndpointFailure {
  readonly method: string;
  /** True if the request names the pending block. */
  readonly isOfPending: boolean;
  /** The HTTP status; 0 without an HTTP answer. */
  readonly status: number;
  /** The code of the JSON-RPC error; null if the answer is none. */
  readonly code: number | null;
  /** The message of the JSON-RPC error, or an explanation why there is none. */
  readonly message: string;
  readonly hasRevertData: boolean;
}

/**
 * Decides what an endpoint's failure means: by its text, else by its code, else by the HTTP status. Only the text of a
 * node is known to be about the request: a gateway chooses the status, and some choose the code.
 */
export function meaningOf(failure: EndpointFailure): ErrorMeaning {
  const { method, status, code, message } = failure;
  const named = classifyNodeError(message);
  const meaning = named !== "other" ? named : (meaningOfCode(failure) ?? meaningOfStatus(status, code));
  // A search for logs that is too long for an endpoint ends in many ways.
  const isTooLong = meaning === "over_limit" || meaning === "timeout" || (named === "other" && status >= 500);
  if (method === "eth_getLogs" && isTooLong) return "not_offered";
  // A node that answers in another shape has another idea of such a method.
  if (meaning === "no_answer" && status === 200 && OPTIONAL_METHODS.includes(method)) return "not_offered";
  // An answer to a submission that is too long is no refusal.
  if (method === SUBMIT && status === 0 && meaning !== "timeout") return "no_answer";
  return meaning === "over_limit" ? "throttled" : meaning;
}

function meaningOfCode({ method, isOfPending, code, hasRevertData }: EndpointFailure): ErrorMeaning | null {
  if (code === 3 || hasRevertData) return "reverted";
  if (code === -32601 || code === -32004) return "not_offered";
  // Invalid parameters, of which only these are known not to be taken everywhere.
  if (code === -32602 && (isOfPending || method === "eth_getLogs")) return "not_offered";
  if (code === 4444) return "out_of_reach";
  if (code === -32001) return "behind";
  if (code === -32005) return "over_limit";
  return code === 429 ? "throttled" : null;
}

function meaningOfStatus(status: number, code: number | null): ErrorMeaning {
  if (status === 413) return "out_of_reach";
  // If this is the answer to everything, the endpoint fails its next check.
  if (status === 401 || status === 402 || status === 403) return "not_offered";
  // A gateway gives these, and some write an error like a node's.
  if (code === null || status > 501) return "no_answer";
  return status >= 500 || status === 429 ? "throttled" : "other";
}

/** Returns how long a message asks not to be asked again, in milliseconds; null if it does not say. */
export function waitNamedIn(message: string): number | null {
  const [, amount, unit = "s"] = NAMED_WAIT.exec(message) ?? [];
  return amount === undefined ? null : Number(amount) * (UNITS_MS[unit.toLowerCase()] ?? 1_000);
}

const NAMED_WAIT = /(?:retry|try again)[ _-](?:after|in)[: ]+(\d{1,9}(?:\.\d{1,9})?) ?(ms|milli|m\b|min)?/i;
const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, milli: 1, m: 60_000, min: 60_000 };
