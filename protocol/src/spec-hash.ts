import { type Hex, keccak256, size } from "viem";
import { err, ok, type Result } from "./result.js";

/** The maximum number of bytes in a request spec, enforced by the registry. */
export const MAX_SPEC_BYTES = 8_192;

/**
 * Returns the hash of a spec, which its keys contain.
 *
 * @param spec The spec's canonical JSON (RFC 8785) in UTF-8. It is not validated.
 */
export function specHash(spec: Hex): Result<Hex> {
  const bytes = size(spec);
  if (bytes < 1 || bytes > MAX_SPEC_BYTES)
    return err(`The spec has ${bytes} bytes. It must have 1 to ${MAX_SPEC_BYTES}.`);
  return ok(keccak256(spec));
}
