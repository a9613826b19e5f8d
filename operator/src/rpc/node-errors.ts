/** The meaning of an error that a node answers, mostly to a transaction. */
export type NodeErrorKind =
  | "already_known"
  | "nonce_too_low"
  /** The nonce leaves a gap, or is too far ahead. */
  | "nonce_too_high"
  /** Another transaction has this nonce, and its fees are too high to be replaced by this one. */
  | "replacement_underpriced"
  /** The fees are lower than the node, or the block, accepts at all. */
  | "underpriced"
  | "insufficient_funds"
  /** The fees are higher than the node relays. */
  | "fee_cap_exceeded"
  | "reverted"
  | "rate_limited"
  /** The node, or a gateway in front of it, gave up waiting: it may have accepted the transaction. */
  | "timeout"
  | "other";

/** A text that nodes answer, and its meaning. */
export interface NodeErrorText {
  /** In lower case; a part of the message. */
  readonly text: string;
  readonly kind: NodeErrorKind;
  /** The client or gateway, its version, and the file or page where the text was found; or that it is not verified. */
  readonly sources: readonly string[];
}

const GETH_POOL = "geth 0dfc43ad core/txpool/errors.go";
const GETH_CORE = "geth 003d175e core/error.go";
const ERIGON = "erigon 05916db2 txnprovider/txpool/txpoolcfg/txpoolcfg.go";
const NETHERMIND = "nethermind, 2026, src/Nethermind/Nethermind.TxPool/TxPoolErrorMessages.cs";
const BESU = "besu 06af6b57 ethereum/api/.../jsonrpc/internal/response/RpcErrorType.java";
const RETH = "reth 00971c29 crates/rpc/rpc-eth-types/src/error/mod.rs";
const ANVIL = "anvil 1.7.1, itself: test/anvil-transaction-errors.test.ts";
const ANVIL_SOURCE = "anvil 02ad6dec crates/anvil/src/eth/error.rs";
const ALCHEMY = "Alchemy, its documentation of rate limits";
const UNVERIFIED = "not verified";

/**
 * Nodes tell the meaning in the message only: their codes differ, and one code means several things. The first entry
 * that matches counts.
 */
export const NODE_ERROR_TEXTS: readonly NodeErrorText[] = [
  { text: "already known", kind: "already_known", sources: [GETH_POOL, ERIGON, NETHERMIND, RETH] },
  { text: "known transaction", kind: "already_known", sources: [BESU] },
  { text: "already imported", kind: "already_known", sources: [ANVIL, ANVIL_SOURCE] },
  { text: "existing txn with same hash", kind: "already_known", sources: [ERIGON] },
  { text: "nonce too low", kind: "nonce_too_low", sources: [GETH_CORE, ERIGON, NETHERMIND, BESU, RETH, ANVIL] },
  { text: "nonce is too low", kind: "nonce_too_low", sources: [UNVERIFIED] },
  { text: "nonce too high", kind: "nonce_too_high", sources: [GETH_CORE, NETHERMIND, BESU, RETH, ANVIL_SOURCE] },
  { text: "nonce too far in future", kind: "nonce_too_high", sources: [NETHERMIND] },
  { text: "nonce is too distant from current sender nonce", kind: "nonce_too_high", sources: [BESU] },
  { text: "an invalid transaction with a lower nonce exists", kind: "nonce_too_high", sources: [BESU] },
  { text: "future transaction tries to replace pending", kind: "nonce_too_high", sources: [GETH_POOL] },
  {
    text: "replacement transaction underpriced",
    kind: "replacement_underpriced",
    sources: [GETH_POOL, ERIGON, NETHERMIND, BESU, RETH, ANVIL],
  },
  { text: "could not replace existing tx", kind: "replacement_underpriced", sources: [ERIGON] },
  {
    text: "insufficient gas price to replace existing transaction",
    kind: "replacement_underpriced",
    sources: [ANVIL_SOURCE],
  },
  { text: "replacement fee too low", kind: "replacement_underpriced", sources: [UNVERIFIED] },
  { text: "underpriced", kind: "underpriced", sources: [GETH_POOL, ERIGON, NETHERMIND, RETH] },
  { text: "fee too low", kind: "underpriced", sources: [ERIGON] },
  { text: "max fee per gas less than block base fee", kind: "underpriced", sources: [GETH_CORE, RETH, ANVIL_SOURCE] },
  { text: "gas price below current base fee", kind: "underpriced", sources: [BESU] },
  { text: "gas price below configured minimum gas price", kind: "underpriced", sources: [BESU] },
  { text: "priority fee below minimum required priority fee", kind: "underpriced", sources: [RETH] },
  {
    text: "insufficient funds",
    kind: "insufficient_funds",
    sources: [GETH_CORE, ERIGON, NETHERMIND, RETH, ANVIL, ANVIL_SOURCE],
  },
  { text: "upfront cost exceeds account balance", kind: "insufficient_funds", sources: [BESU] },
  { text: "insufficient balance", kind: "insufficient_funds", sources: [UNVERIFIED] },
  { text: "exceeds the configured cap", kind: "fee_cap_exceeded", sources: ["geth, internal/ethapi", RETH] },
  { text: "transaction fee cap exceeded", kind: "fee_cap_exceeded", sources: [BESU] },
  { text: "execution reverted", kind: "reverted", sources: [BESU, RETH, ANVIL_SOURCE] },
  { text: "compute units per second capacity", kind: "rate_limited", sources: [ALCHEMY] },
  { text: "too many concurrent requests", kind: "rate_limited", sources: [ALCHEMY] },
  { text: "too many requests", kind: "rate_limited", sources: [UNVERIFIED] },
  { text: "request rate limited", kind: "rate_limited", sources: [UNVERIFIED] },
  { text: "rate limit", kind: "rate_limited", sources: [UNVERIFIED] },
  { text: "timeout expired", kind: "timeout", sources: [BESU] },
  { text: "but wasn't confirmed within", kind: "timeout", sources: [ANVIL_SOURCE] },
  { text: "request timed out", kind: "timeout", sources: [UNVERIFIED] },
];

/** Classifies a node's error by its message. An unknown text is `other`, which only makes the error less specific. */
export function classifyNodeError(message: string): NodeErrorKind {
  const lowerCase = message.toLowerCase();
  return NODE_ERROR_TEXTS.find(({ text }) => lowerCase.includes(text))?.kind ?? "other";
}
