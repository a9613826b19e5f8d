import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import * as wasm from "tiny-secp256k1";
import { type Address, bytesToHex, getAddress } from "viem";
import { keccak } from "./keccak.js";

/**
 * The functions of bitcoin-core's libsecp256k1 that are used in place of viem's JavaScript: recovering a signer takes
 * 72 microseconds instead of 2,491 (`bench:operator -- --only distinct-keys`). Digests and private keys have 32 bytes.
 */
export interface Secp256k1 {
  readonly name: string;
  /**
   * Recovers the public key that signed a digest.
   *
   * @param rs 64 bytes: r and s.
   * @param parity The parity that v encodes.
   * @returns 65 bytes. Returns null or throws when there is no such key.
   */
  recover(digest: Uint8Array, rs: Uint8Array, parity: 0 | 1): Uint8Array | null;
  /**
   * Signs a digest deterministically (RFC 6979), with the lower s. The two libraries differ only for digests not below
   * the curve's order, which no one can find.
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): EcdsaSignature;
  /**
   * @returns 65 bytes.
   * @throws When the private key is 0, or not below the curve's order. The error does not contain it.
   */
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
}

export interface EcdsaSignature {
  /** 64 bytes: r and s. */
  readonly rs: Uint8Array;
  /** The parity of the y-coordinate of the point whose x-coordinate is r. */
  readonly parity: number;
}

export const WASM_SECP256K1: Secp256k1 = {
  name: "tiny-secp256k1 (WebAssembly)",
  recover: (digest, rs, parity) => wasm.recover(digest, rs, parity),
  sign(digest, privateKey) {
    const { signature, recoveryId } = wasm.signRecoverable(digest, privateKey);
    return { rs: signature, parity: recoveryId & 1 };
  },
  publicKeyOf(privateKey) {
    const publicKey = wasm.pointFromScalar(privateKey, false);
    if (publicKey === null) throw new Error("The private key is 0, or not below the curve's order.");
    return publicKey;
  },
};

/** The part of the package's binding that is used. */
interface Binding {
  contextRandomize(seed: Uint8Array): void;
  ecdsaRecover(rs: Uint8Array, parity: number, digest: Uint8Array, isCompressed: boolean): Uint8Array;
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { readonly signature: Uint8Array; readonly recid: number };
  publicKeyCreate(privateKey: Uint8Array, isCompressed: boolean): Uint8Array;
}

/** Loads the native library; null when the package has no build for this machine. */
export function loadNativeSecp256k1(): Secp256k1 | null {
  let binding: Binding;
  try {
    // The binding is loaded directly, because the package's entry falls back to slow JavaScript.
    binding = createRequire(import.meta.url)("secp256k1/bindings.js");
  } catch {
    return null;
  }
  // Blinds the computation, so that its time and power reveal nothing of the key. tiny-secp256k1 does this itself.
  binding.contextRandomize(randomBytes(32));
  return {
    name: "secp256k1 (native)",
    recover: (digest, rs, parity) => binding.ecdsaRecover(rs, parity, digest, false),
    sign(digest, privateKey) {
      const { signature, recid } = binding.ecdsaSign(digest, privateKey);
      return { rs: signature, parity: recid & 1 };
    },
    publicKeyOf: (privateKey) => binding.publicKeyCreate(privateKey, false),
  };
}

/** The fastest library on this machine. */
export const SECP256K1: Secp256k1 = loadNativeSecp256k1() ?? WASM_SECP256K1;

/** @param publicKey 65 bytes. */
export function addressOf(publicKey: Uint8Array): Address {
  return getAddress(bytesToHex(keccak(publicKey.subarray(1)).subarray(12)));
}
