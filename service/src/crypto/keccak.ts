import { createKeccak } from "hash-wasm";

const hasher = await createKeccak(256);

/** Hashes with keccak256 in WebAssembly: viem's JavaScript is too slow for `bench:operator -- --only distinct-keys`. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest("binary");
}
