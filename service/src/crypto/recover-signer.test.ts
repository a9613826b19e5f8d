import { recoverSigner as recoverByViem } from "@dataset-oracle/protocol/recover-signer";
import { recoverSignerWith } from "@dataset-oracle/service/crypto/recover-signer";
import fc from "fast-check";
import { bytesToHex, concatHex, type Hex, hexToBigInt, hexToBytes, numberToHex, slice } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { loadNativeSecp256k1, WASM_SECP256K1 } from "./secp256k1.js";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** The order of the curve's field. */
const PRIME = 2n ** 256n - 2n ** 32n - 977n;
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const DIGEST: Hex = `0x${"5a".repeat(32)}`;
const SIGNATURE = await account.sign({ hash: DIGEST });
const [R, S, V] = [slice(SIGNATURE, 0, 32), slice(SIGNATURE, 32, 64), Number(slice(SIGNATURE, 64))];

const word = (number: bigint) => numberToHex(number, { size: 32 });
const signed = (r: Hex, s: Hex, v: number) => concatHex([r, s, numberToHex(v, { size: 1 })]);

const REFUSED: readonly (readonly [name: string, signature: string])[] = [
  ["the other s, which is high", signed(R, word(ORDER - hexToBigInt(S)), 55 - V)],
  ["an s just above half the order", signed(R, word((ORDER + 1n) / 2n), V)],
  ["v 0", signed(R, S, V - 27)],
  ["v 26", signed(R, S, 26)],
  ["v 29", signed(R, S, 29)],
  ["v 255", signed(R, S, 255)],
  ["r zero", signed(word(0n), S, V)],
  ["s zero", signed(R, word(0n), V)],
  ["r and s zero", signed(word(0n), word(0n), V)],
  ["r the order", signed(word(ORDER), S, V)],
  ["r above the order and in the field", signed(word(ORDER + 1n), S, V)],
  ["r the field's prime", signed(word(PRIME), S, V)],
  ["r as high as can be", signed(word(2n ** 256n - 1n), S, V)],
  ["s the order", signed(R, word(ORDER), V)],
  ["s as high as can be", signed(R, word(2n ** 256n - 1n), V)],
  ["r on no point of the curve", signed(word(5n), S, V)],
  ["no bytes", "0x"],
  ["64 bytes, in the form of EIP-2098", slice(SIGNATURE, 0, 64)],
  ["66 bytes", `${SIGNATURE}00`],
  ["one hex digit too few", SIGNATURE.slice(0, -1)],
  ["no 0x", SIGNATURE.slice(2)],
  ["a digit that is not hex", SIGNATURE.replace(/.$/, "g")],
  ["a line end after it", `${SIGNATURE}\n`],
  ["zero bytes only", `0x${"00".repeat(65)}`],
];

const native = loadNativeSecp256k1();

describe.each([WASM_SECP256K1, ...(native === null ? [] : [native])])("$name", (library) => {
  const recover = recoverSignerWith(library);
  const agrees = async (digest: Hex, signature: string) => {
    const signer = recover(hexToBytes(digest), signature);
    expect(signer).toBe(await recoverByViem(digest, signature));
    return signer;
  };

  it("recovers the signer, in either case of the hex digits", async () => {
    expect(await agrees(DIGEST, SIGNATURE)).toBe(account.address);
    expect(await agrees(DIGEST, `0x${SIGNATURE.slice(2).toUpperCase()}`)).toBe(account.address);
  });

  it.each(REFUSED)("refuses %s", async (_name, signature) => {
    expect(await agrees(DIGEST, signature)).toBeNull();
  });

  it("agrees with viem on digests of any size, the order and zero among them", async () => {
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

  it("agrees with viem on signatures whose parts are valid, random or at an edge", async () => {
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

  it("agrees with viem on signatures with one flipped bit, and of any length", async () => {
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
