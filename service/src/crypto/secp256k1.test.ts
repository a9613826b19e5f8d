import { HALF_ORDER } from "@dataset-oracle/protocol/recover-signer";
import { bytesToHex, hexToBigInt, hexToBytes, numberToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { loadNativeSecp256k1, SECP256K1, WASM_SECP256K1 } from "./secp256k1.js";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const native = loadNativeSecp256k1();
const word = (number: bigint) => numberToBytes(number, { size: 32 });

test("is native where there is a build for the machine", () => {
  expect(SECP256K1.name).toBe((native ?? WASM_SECP256K1).name);
});

test.runIf(["linux x64", "darwin arm64", "win32 x64"].includes(`${process.platform} ${process.arch}`))(
  "has a native build here",
  () => {
    expect(native?.name).toBe("secp256k1 (native)");
  },
);

describe.each([WASM_SECP256K1, ...(native === null ? [] : [native])])("$name", ({ sign, recover, publicKeyOf }) => {
  const agrees = async (digest: Uint8Array, key: Uint8Array) => {
    const account = privateKeyToAccount(bytesToHex(key));
    const { rs, parity } = sign(digest, key);
    const v = parity === 0 ? 27 : 28;
    expect(bytesToHex(Uint8Array.of(...rs, v))).toBe(await account.sign({ hash: bytesToHex(digest) }));
    expect(bytesToHex(publicKeyOf(key))).toBe(account.publicKey);
    isSigned(digest, key);
  };
  const isSigned = (digest: Uint8Array, key: Uint8Array) => {
    const { rs, parity } = sign(digest, key);
    expect(recover(digest, rs, parity === 0 ? 0 : 1)).toEqual(publicKeyOf(key));
    expect(hexToBigInt(bytesToHex(rs.subarray(32)))).toBeLessThanOrEqual(HALF_ORDER);
  };

  const edges = [0n, 1n, 2n, ORDER / 2n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n];
  const isKey = (number: bigint) => number > 0n && number < ORDER;

  test("signs digests at the edges with keys at the edges, below the order as viem does", async () => {
    for (const key of edges.filter(isKey)) {
      for (const digest of edges) {
        if (digest < ORDER) await agrees(word(digest), word(key));
        else isSigned(word(digest), word(key));
      }
    }
  });

  test.each(edges.filter((number) => !isKey(number)))("refuses a key of %d, and does not show it", (number) => {
    const key = word(number);
    for (const use of [() => publicKeyOf(key), () => sign(word(1n), key)]) {
      expect(use).toThrow();
      expect(use).not.toThrow(bytesToHex(key).slice(2));
    }
  });

  test("signs nothing but 32 bytes", () => {
    const key = word(1n);
    for (const size of [0, 31, 33]) expect(() => sign(new Uint8Array(size), key)).toThrow();
    for (const size of [0, 31, 33]) expect(() => sign(word(1n), hexToBytes(`0x${"01".repeat(size)}`))).toThrow();
  });
});
