import { recoverSigner } from "@dataset-oracle/protocol/recover-signer";
import { recoverSignerWith } from "@dataset-oracle/service/crypto/recover-signer-sync";
import fc from "fast-check";
import { bytesToHex, concatHex, type Hex, hexToBytes, numberToHex, slice } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import vectors from "../../../protocol/vectors/reports.json" with { type: "json" };
import { loadNativeSecp256k1, WASM_SECP256K1 } from "./secp256k1.js";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** The order of the curve's field. */
const PRIME = 2n ** 256n - 2n ** 32n - 977n;
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const DIGEST: Hex = `0x${"5a".repeat(32)}`;
const SIGNATURE = await account.sign({ hash: DIGEST });
const [R, S] = [slice(SIGNATURE, 0, 32), slice(SIGNATURE, 32, 64)];

const word = (number: bigint) => numberToHex(number, { size: 32 });
const signed = (r: Hex, s: Hex, v: number) => concatHex([r, s, numberToHex(v, { size: 1 })]);

const native = loadNativeSecp256k1();

describe.each([WASM_SECP256K1, ...(native === null ? [] : [native])])("$name", (library) => {
  const recover = recoverSignerWith(library);
  const agrees = async (digest: Hex, signature: string) => {
    const signer = recover(hexToBytes(digest), signature);
    expect(signer).toBe(await recoverSigner(digest, signature));
    return signer;
  };

  test("recovers the signer, in either case of the hex digits", async () => {
    expect(await agrees(DIGEST, SIGNATURE)).toBe(account.address);
    expect(await agrees(DIGEST, `0x${SIGNATURE.slice(2).toUpperCase()}`)).toBe(account.address);
  });

  test.each(vectors.refused)("refuses a signature with $name", async ({ signature }) => {
    expect(await agrees(vectors.reports[0]?.digest as Hex, signature)).toBeNull();
  });

  test("agrees with viem on digests of any size, the order and zero among them", async () => {
    for (const digest of [0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n].map(word)) {
      expect(await agrees(digest, await account.sign({ hash: digest }))).toBe(account.address);
      await agrees(digest, SIGNATURE);
    }
  });

  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes));
  const edge = fc
    .tuple(fc.constantFrom(0n, ORDER / 2n, ORDER, PRIME, 2n ** 256n), fc.bigInt(-3n, 3n))
    .map(([of, off]) => word((of + off + 2n ** 256n) % 2n ** 256n));
  const part = (usual: Hex) => fc.oneof(fc.constant(usual), bytes32, edge);

  test("agrees with viem on signatures whose parts are valid, random or at an edge", async () => {
    const v = fc.oneof(fc.constantFrom(27, 28), fc.integer({ min: 0, max: 255 }));
    const random = fc.asyncProperty(
      fc.oneof(fc.constant(DIGEST), bytes32),
      part(R),
      part(S),
      v,
      async (digest, ...rsv) => {
        await agrees(digest, signed(...rsv));
      },
    );
    await fc.assert(random, { numRuns: 400 });
  });

  test("agrees with viem on signatures with one flipped bit, and of any length", async () => {
    const flipped = fc.integer({ min: 0, max: 65 * 8 - 1 }).map((bit) => {
      const bytes = hexToBytes(SIGNATURE);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return bytesToHex(bytes);
    });
    const anyLength = fc.uint8Array({ minLength: 0, maxLength: 130 }).map((bytes) => bytesToHex(bytes));
    const random = fc.asyncProperty(fc.oneof(flipped, anyLength, fc.string()), async (signature) => {
      await agrees(DIGEST, signature);
    });
    await fc.assert(random, { numRuns: 300 });
  });
});
