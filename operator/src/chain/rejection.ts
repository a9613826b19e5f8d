/** Why a node did not take a transaction. */
export type Rejection = "already_known" | "nonce_taken" | "out_of_funds" | "other";

/**
 * Nodes say this in words only. Seen here, and held by a test, is what anvil 1.7 says: "transaction already imported",
 * "replacement transaction underpriced", "nonce too low", "Insufficient funds for gas * price + value". The other words
 * are what other nodes are believed to say; none of them was seen or looked up. A text that is not understood costs a
 * repetition, or a clear error, and nothing else.
 */
const WORDS: readonly (readonly [RegExp, Rejection])[] = [
  [/already imported|already known|known transaction/i, "already_known"],
  [/nonce too low|replacement transaction underpriced|nonce is too low/i, "nonce_taken"],
  [/insufficient funds|insufficient balance|insufficient sender balance/i, "out_of_funds"],
];

/** @param reason What the node said. */
export function classifyRejection(reason: string): Rejection {
  return WORDS.find(([words]) => words.test(reason))?.[1] ?? "other";
}
