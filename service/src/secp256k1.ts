import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import * as wasm from "tiny-secp256k1";

/** What is needed of bitcoin-core's libsecp256k1. Digests and private keys have 32 bytes. */
export interface Secp256k1 {
  readonly name: string;
  /**
   * Finds the public key of who signed a digest.
   *
   * @param rs 64 bytes: r and s.
   * @param parity That of v: 0 or 1.
   * @returns 65 bytes. Null, or throws, when there is none.
   */
  recover(digest: Uint8Array, rs: Uint8Array, parity: 0 | 1): Uint8Array | null;
  /**
   * Signs a digest: always alike (RFC 6979), and with the lower s. From the curve's order on, where nobody finds a
   * digest, one library reduces it before and the other does not.
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): EcdsaSignature;
  /**
   * @returns 65 bytes.
   * @throws When the private key is 0, or not below the curve's order. The error does not hold it.
   */
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
}

export interface EcdsaSignature {
  /** 64 bytes: r and s. */
  readonly rs: Uint8Array;
  /** Of r's point: 0 when y is even, 1 when it is odd. */
  readonly parity: number;
}

export const WASM: Secp256k1 = {
  name: "tiny-secp256k1 (WebAssembly)",
  recover: (digest, rs, parity) => wasm.recover(digest, rs, parity),
  sign(digest, privateKey) {
    const { signature, recoveryId } = wasm.signRecoverable(digest, privateKey);
    return { rs: signature, parity: recoveryId & 1 };
  },
  publicKeyOf(privateKey) {
    const publicKey = wasm.pointFromScalar(privateKey, false);
    if (publicKey === null) throw new Error("It is no private key.");
    return publicKey;
  },
};

/** As much of the package's binding as is used. */
interface Binding {
  contextRandomize(seed: Uint8Array): void;
  ecdsaRecover(rs: Uint8Array, parity: number, digest: Uint8Array, isCompressed: boolean): Uint8Array;
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { readonly signature: Uint8Array; readonly recid: number };
  publicKeyCreate(privateKey: Uint8Array, isCompressed: boolean): Uint8Array;
}

/** @returns Null where there is no build of it for this machine. */
export function loadNative(): Secp256k1 | null {
  let binding: Binding;
  try {
    // The package's own entry falls back to a slow library in JavaScript.
    binding = createRequire(import.meta.url)("secp256k1/bindings.js");
  } catch {
    return null;
  }
  // Blinds what signing computes with: what it takes in time or power tells nothing of the key. The other does it itself.
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

/** The faster one that this machine has. */
export const SECP256K1: Secp256k1 = loadNative() ?? WASM;
