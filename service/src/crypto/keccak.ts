import { createKeccak } from "hash-wasm";

const hasher = await createKeccak(256);

/** Hashes with keccak256 in WebAssembly; `bench:operator -- --only distinct-keys` needs it in place of viem's JavaScript. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest("binary");
}
