/** Why a node did not take a transaction. */
export type Rejection = "already_known" | "nonce_taken" | "out_of_funds" | "other";

/**
 * Nodes say this in words only: the codes differ from one to the next. The texts of anvil 1.7 were seen; those of
 * other nodes are from their sources, and were not tried.
 */
const WORDS: readonly (readonly [RegExp, Rejection])[] = [
  [/already known|already imported|known transaction/i, "already_known"],
  [/nonce too low|nonce is too low|replacement transaction underpriced/i, "nonce_taken"],
  [/insufficient funds|insufficient balance|insufficient sender balance/i, "out_of_funds"],
];

/** @param reason What the node said. */
export function classifyRejection(reason: string): Rejection {
  return WORDS.find(([words]) => words.test(reason))?.[1] ?? "other";
}
