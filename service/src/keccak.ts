import { createKeccak } from "hash-wasm";

const hasher = await createKeccak(256);

/** keccak256 in WebAssembly: a report's three hashes take a few microseconds. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest("binary");
}
