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
  /** The EVM lacks an instruction. */
  | "invalid_opcode"
  | "reverted"
  | "rate_limited"
  /** The node, or a gateway in front of it, gave up waiting: it may have accepted the transaction. */
  | "timeout"
  | "other";

/**
 * The texts that nodes answer, in lower case, and their meanings. Nodes tell the meaning in the message only: their codes
 * differ, and one code means several things. The first entry that matches counts. Beside each stands whose source or
 * documentation has it: geth 0dfc43ad core/txpool/errors.go, 003d175e core/error.go and internal/ethapi; erigon 05916db2
 * txnprovider/txpool/txpoolcfg/txpoolcfg.go; nethermind, 2026, Nethermind.TxPool/TxPoolErrorMessages.cs; besu 06af6b57
 * RpcErrorType.java; reth 00971c29 crates/rpc/rpc-eth-types/src/error/mod.rs; anvil 02ad6dec crates/anvil/src/eth/error.rs, or
 * anvil 1.7.1 itself (test/anvil-transaction-errors.test.ts).
 */
export const NODE_ERROR_TEXTS: readonly (readonly [text: string, kind: NodeErrorKind])[] = [
  ["already known", "already_known"], // geth, Erigon, Nethermind, Reth
  ["known transaction", "already_known"], // Besu
  ["already imported", "already_known"], // anvil
  ["existing txn with same hash", "already_known"], // Erigon
  ["nonce too low", "nonce_too_low"], // geth, Erigon, Nethermind, Besu, Reth, anvil
  ["nonce is too low", "nonce_too_low"], // not verified
  ["nonce too high", "nonce_too_high"], // geth, Nethermind, Besu, Reth, anvil
  ["nonce too far in future", "nonce_too_high"], // Nethermind
  ["nonce is too distant from current sender nonce", "nonce_too_high"], // Besu
  ["an invalid transaction with a lower nonce exists", "nonce_too_high"], // Besu
  ["future transaction tries to replace pending", "nonce_too_high"], // geth
  ["replacement transaction underpriced", "replacement_underpriced"], // geth, Erigon, Nethermind, Besu, Reth, anvil
  ["could not replace existing tx", "replacement_underpriced"], // Erigon
  ["insufficient gas price to replace existing transaction", "replacement_underpriced"], // anvil
  ["replacement fee too low", "replacement_underpriced"], // not verified
  ["underpriced", "underpriced"], // geth, Erigon, Nethermind, Reth
  ["gas price below minimum", "underpriced"], // geth
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
  ["insufficient balance", "insufficient_funds"], // not verified
  ["exceeds the configured cap", "fee_cap_exceeded"], // geth, Reth
  ["transaction fee cap exceeded", "fee_cap_exceeded"], // Besu
  ["invalid opcode", "invalid_opcode"], // geth, Erigon, Hardhat, Ganache
  ["invalid_operation", "invalid_opcode"], // Besu
  ["badinstruction", "invalid_opcode"], // Nethermind
  ["opcodenotfound", "invalid_opcode"], // anvil
  ["notactivated", "invalid_opcode"], // anvil
  ["execution reverted", "reverted"], // Besu, Reth, anvil
  ["compute units per second capacity", "rate_limited"], // Alchemy
  ["too many concurrent requests", "rate_limited"], // Alchemy
  ["too many requests", "rate_limited"], // not verified
  ["request rate limited", "rate_limited"], // not verified
  ["rate limit", "rate_limited"], // not verified
  ["timeout expired", "timeout"], // Besu
  ["but wasn't confirmed within", "timeout"], // anvil
  ["request timed out", "timeout"], // not verified
];

/** Classifies a node's error by its message. An unknown text is `other`, which only makes the error less specific. */
export function classifyNodeError(message: string): NodeErrorKind {
  const lowerCase = message.toLowerCase();
  return NODE_ERROR_TEXTS.find(([text]) => lowerCase.includes(text))?.[1] ?? "other";
}
