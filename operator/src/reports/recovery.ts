import { createRequire } from "node:module";
import { HALF_ORDER } from "@dataset-oracle/protocol/report";
import { recover as recoverByWasm } from "tiny-secp256k1";
import { type Address, getAddress, hexToBytes, numberToBytes } from "viem";
import { keccak } from "./keccak.js";

/** A library that finds the public key of who signed a digest. */
export interface Recovery {
  readonly name: string;
  /**
   * @param rs 64 bytes: r and s.
   * @param parity That of v: 0 or 1.
   * @returns 65 bytes. Null, or throws, when there is none.
   */
  recover(digest: Uint8Array, rs: Uint8Array, parity: 0 | 1): Uint8Array | null;
}

export const WASM: Recovery = {
  name: "tiny-secp256k1 (WebAssembly)",
  recover: (digest, rs, parity) => recoverByWasm(digest, rs, parity),
};

/** As much of the package's binding as is used. */
interface Binding {
  ecdsaRecover(rs: Uint8Array, parity: number, digest: Uint8Array, isCompressed: boolean): Uint8Array;
}

/** @returns Null where there is no build of it for this machine. */
export function loadNative(): Recovery | null {
  try {
    // The package's own entry falls back to a slow library in JavaScript.
    const binding: Binding = createRequire(import.meta.url)("secp256k1/bindings.js");
    return {
      name: "secp256k1 (native)",
      recover: (digest, rs, parity) => binding.ecdsaRecover(rs, parity, digest, false),
    };
  } catch {
    return null;
  }
}

const MAX_S = numberToBytes(HALF_ORDER, { size: 32 });

/**
 * Who signed digests, by a library: as `recoverSigner` of the protocol, and many times faster.
 *
 * @returns Null when the signature is not one that the contract would take: 65 bytes, r and s above zero, s not above half
 * the curve's order, v 27 or 28.
 */
export function signerBy({ recover }: Recovery): (digest: Uint8Array, signature: string) => Address | null {
  return (digest, signature) => {
    if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return null;
    const bytes = hexToBytes(signature as `0x${string}`);
    const v = bytes[64];
    if (v !== 27 && v !== 28) return null;
    if (Buffer.compare(bytes.subarray(32, 64), MAX_S) > 0) return null;
    const publicKey = publicKeyOf(recover, digest, bytes.subarray(0, 64), v === 27 ? 0 : 1);
    if (publicKey === null) return null;
    const hash = keccak(publicKey.subarray(1));
    return getAddress(`0x${Buffer.from(hash.subarray(12)).toString("hex")}`);
  };
}

function publicKeyOf(recover: Recovery["recover"], ...signed: Parameters<Recovery["recover"]>): Uint8Array | null {
  try {
    return recover(...signed);
  } catch {
    // r or s is out of range, or r is on no point of the curve.
    return null;
  }
}

/** The faster one that this machine has. */
export const RECOVERY: Recovery = loadNative() ?? WASM;

export const recoverSigner = signerBy(RECOVERY);
