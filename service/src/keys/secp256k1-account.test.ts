import { inspect } from "node:util";
import fc from "fast-check";
import { bytesToHex, type Hex, hexToBytes, parseGwei, type TransactionSerializable } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { loadNativeSecp256k1, WASM_SECP256K1 } from "../crypto/secp256k1.js";
import { accountFromPrivateKey } from "./secp256k1-account.js";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const KEY: Hex = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const TO = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

const native = loadNativeSecp256k1();
const libraries = [WASM_SECP256K1, ...(native === null ? [] : [native])];
const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((array) => bytesToHex(array));
const parseField = (field: string) => {
  const [type = "", name = ""] = field.split(" ");
  return { name, type };
};
const keys = fc.bigInt(1n, ORDER - 1n).map((number): Hex => `0x${number.toString(16).padStart(64, "0")}`);

describe.each(libraries)("an account by $name", (library) => {
  const both = (key: Hex) => ({ ours: accountFromPrivateKey(key, library), viems: privateKeyToAccount(key) });

  test("has the key's address, and signs digests, messages and typed data as viem's account does", async () => {
    const types = { Mail: ["address from", "bytes[] parts", "uint256 count"].map(parseField) };
    const domain = { name: "Mail", version: "1", chainId: 42, verifyingContract: TO } as const;
    const random = fc.asyncProperty(
      keys,
      bytes(32, 32),
      fc.string({ unit: "binary" }),
      fc.array(bytes(0, 70)),
      fc.bigInt(0n, 2n ** 256n - 1n),
      async (key, hash, text, parts, count) => {
        const { ours, viems } = both(key);
        expect(ours.address).toBe(viems.address);
        expect(await ours.sign?.({ hash })).toBe(await viems.sign({ hash }));
        for (const message of [text, { raw: hash }, { raw: hexToBytes(hash) }]) {
          expect(await ours.signMessage({ message })).toBe(await viems.signMessage({ message }));
        }
        const typed = { domain, types, primaryType: "Mail", message: { from: TO, parts, count } } as const;
        expect(await ours.signTypedData(typed)).toBe(await viems.signTypedData(typed));
      },
    );
    await fc.assert(random, { numRuns: 20 });
  });

  const fees = { maxFeePerGas: parseGwei("30"), maxPriorityFeePerGas: parseGwei("1") };
  const accessList = [{ address: TO, storageKeys: [`0x${"07".repeat(32)}`] }] as const;
  const blob = { blob: "0x01", commitment: `0x${"02".repeat(48)}`, proof: `0x${"03".repeat(48)}` } as const;
  const blobs = { blobVersionedHashes: [`0x01${"04".repeat(31)}`], maxFeePerBlobGas: 5n, sidecars: [blob] } as const;
  const transactions: readonly [name: string, transaction: TransactionSerializable][] = [
    ["a legacy one", { type: "legacy", gasPrice: 7n }],
    ["a legacy one of no chain", { type: "legacy", gasPrice: 7n, chainId: undefined }],
    ["one with an access list", { type: "eip2930", gasPrice: 7n, accessList }],
    ["one of EIP-1559", { type: "eip1559", ...fees }],
    ["one whose type is told by its fees", fees],
    ["one of EIP-1559 with an access list", { ...fees, accessList }],
    ["one of EIP-1559 with little in it", { type: "eip1559", to: undefined, gas: undefined }],
    ["one with blobs", { type: "eip4844", to: TO, ...fees, ...blobs }],
  ].map(([name, change]) => [name as string, { chainId: 42, to: TO, gas: 21_000n, ...(change as object) }]);

  test.each(transactions)("signs %s as viem's account does", async (_name, transaction) => {
    const random = fc.asyncProperty(keys, bytes(0, 300), fc.nat(), async (key, data, nonce) => {
      const { ours, viems } = both(key);
      const whole = { ...transaction, data, nonce } as TransactionSerializable;
      const signed = await ours.signTransaction(whole);
      expect(signed).toBe(await viems.signTransaction(whole));
    });
    await fc.assert(random, { numRuns: 20 });
  });

  test("does not reveal its key when printed, copied or inspected", () => {
    const { ours } = both(KEY);
    const shown = [
      inspect(ours, { depth: null, showHidden: true, getters: true }),
      JSON.stringify(ours),
      JSON.stringify({ ...ours }),
      ...Reflect.ownKeys(ours).map((name) => inspect(Reflect.get(ours, name), { depth: null, showHidden: true })),
    ].join("\n");
    expect(shown).toContain(ours.address);
    expect(shown).not.toContain(KEY.slice(2, 20));
    // The key must not appear as bytes, in decimal or in hex.
    expect(shown).not.toContain("172, 9, 116");
    expect(shown).not.toContain("ac 09 74");
    expect(Object.values(ours).some((value) => ArrayBuffer.isView(value))).toBe(false);
  });
});
