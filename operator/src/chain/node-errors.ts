/** What a node means by refusing a transaction. */
export type Rejection =
  | "already_known"
  | "nonce_too_low"
  /** It leaves a gap, or is too far ahead. */
  | "nonce_too_high"
  /** Another transaction has this nonce, and offers too much to be replaced by this one. */
  | "replacement_underpriced"
  /** Less than the node, or the block, takes at all. */
  | "underpriced"
  | "insufficient_funds"
  /** More than the node passes on. */
  | "fee_cap_exceeded"
  | "reverted"
  | "rate_limited"
  /** The node, or who stands before it, gave up waiting: it may have been taken. */
  | "timeout"
  | "other";

/** One text, and who says it. */
export interface Said {
  /** In lower case; a part of what is said. */
  readonly words: string;
  readonly meaning: Rejection;
  /** Client or gateway, version, and the file or page that the text was looked up in; or that it is not verified. */
  readonly by: readonly string[];
}

const GETH_POOL = "geth 0dfc43ad core/txpool/errors.go";
const GETH_CORE = "geth 003d175e core/error.go";
const ERIGON = "erigon 05916db2 txnprovider/txpool/txpoolcfg/txpoolcfg.go";
const NETHERMIND = "nethermind, 2026, src/Nethermind/Nethermind.TxPool/TxPoolErrorMessages.cs";
const BESU = "besu 06af6b57 ethereum/api/.../jsonrpc/internal/response/RpcErrorType.java";
const RETH = "reth 00971c29 crates/rpc/rpc-eth-types/src/error/mod.rs";
const ANVIL = "anvil 1.7.1, itself: test/rejections.test.ts";
const ANVIL_SOURCE = "anvil 02ad6dec crates/anvil/src/eth/error.rs";
const ALCHEMY = "Alchemy, its documentation of rate limits";
const UNVERIFIED = "not verified";

/** Nodes say it in words only: their codes differ, and one code means several things. The first row that fits counts. */
export const SAID: readonly Said[] = [
  { words: "already known", meaning: "already_known", by: [GETH_POOL, ERIGON, NETHERMIND, RETH] },
  { words: "known transaction", meaning: "already_known", by: [BESU] },
  { words: "already imported", meaning: "already_known", by: [ANVIL, ANVIL_SOURCE] },
  { words: "existing txn with same hash", meaning: "already_known", by: [ERIGON] },
  { words: "nonce too low", meaning: "nonce_too_low", by: [GETH_CORE, ERIGON, NETHERMIND, BESU, RETH, ANVIL] },
  { words: "nonce is too low", meaning: "nonce_too_low", by: [UNVERIFIED] },
  { words: "nonce too high", meaning: "nonce_too_high", by: [GETH_CORE, NETHERMIND, BESU, RETH, ANVIL_SOURCE] },
  { words: "nonce too far in future", meaning: "nonce_too_high", by: [NETHERMIND] },
  { words: "nonce is too distant from current sender nonce", meaning: "nonce_too_high", by: [BESU] },
  { words: "an invalid transaction with a lower nonce exists", meaning: "nonce_too_high", by: [BESU] },
  { words: "future transaction tries to replace pending", meaning: "nonce_too_high", by: [GETH_POOL] },
  {
    words: "replacement transaction underpriced",
    meaning: "replacement_underpriced",
    by: [GETH_POOL, ERIGON, NETHERMIND, BESU, RETH, ANVIL],
  },
  { words: "could not replace existing tx", meaning: "replacement_underpriced", by: [ERIGON] },
  {
    words: "insufficient gas price to replace existing transaction",
    meaning: "replacement_underpriced",
    by: [ANVIL_SOURCE],
  },
  { words: "replacement fee too low", meaning: "replacement_underpriced", by: [UNVERIFIED] },
  { words: "underpriced", meaning: "underpriced", by: [GETH_POOL, ERIGON, NETHERMIND, RETH] },
  { words: "fee too low", meaning: "underpriced", by: [ERIGON] },
  { words: "max fee per gas less than block base fee", meaning: "underpriced", by: [GETH_CORE, RETH, ANVIL_SOURCE] },
  { words: "gas price below current base fee", meaning: "underpriced", by: [BESU] },
  { words: "gas price below configured minimum gas price", meaning: "underpriced", by: [BESU] },
  { words: "priority fee below minimum required priority fee", meaning: "underpriced", by: [RETH] },
  {
    words: "insufficient funds",
    meaning: "insufficient_funds",
    by: [GETH_CORE, ERIGON, NETHERMIND, RETH, ANVIL, ANVIL_SOURCE],
  },
  { words: "upfront cost exceeds account balance", meaning: "insufficient_funds", by: [BESU] },
  { words: "insufficient balance", meaning: "insufficient_funds", by: [UNVERIFIED] },
  { words: "exceeds the configured cap", meaning: "fee_cap_exceeded", by: ["geth, internal/ethapi", RETH] },
  { words: "transaction fee cap exceeded", meaning: "fee_cap_exceeded", by: [BESU] },
  { words: "execution reverted", meaning: "reverted", by: [BESU, RETH, ANVIL_SOURCE] },
  { words: "compute units per second capacity", meaning: "rate_limited", by: [ALCHEMY] },
  { words: "too many concurrent requests", meaning: "rate_limited", by: [ALCHEMY] },
  { words: "too many requests", meaning: "rate_limited", by: [UNVERIFIED] },
  { words: "request rate limited", meaning: "rate_limited", by: [UNVERIFIED] },
  { words: "rate limit", meaning: "rate_limited", by: [UNVERIFIED] },
  { words: "timeout expired", meaning: "timeout", by: [BESU] },
  { words: "but wasn't confirmed within", meaning: "timeout", by: [ANVIL_SOURCE] },
  { words: "request timed out", meaning: "timeout", by: [UNVERIFIED] },
];

/** @param reason What the node said. A text that is not understood costs a clear error, and nothing else. */
export function classifyRejection(reason: string): Rejection {
  const said = reason.toLowerCase();
  return SAID.find(({ words }) => said.includes(words))?.meaning ?? "other";
}
