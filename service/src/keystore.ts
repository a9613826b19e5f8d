import { createDecipheriv, pbkdf2, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { bytesToHex, concatBytes, type Hex, hexToBytes, isAddressEqual, keccak256, type LocalAccount } from "viem";
import { fromPrivateKey } from "./local-account.js";

/** What a keystore may cost to open: four times what geth's own asks for, so that a foreign file cannot fill the machine. */
const MAX_SCRYPT_BYTES = 256 * 1024 * 1024;
const MAX_SCRYPT_WORK = 2 ** 23;
const MAX_PBKDF2_ROUNDS = 10_000_000;

const hex = (bytes: number) => Type.String({ pattern: `^[0-9a-fA-F]{${2 * bytes}}$` });
const salt = Type.String({ pattern: "^(?:[0-9a-fA-F]{2}){1,64}$" });
const count = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });

const cipher = {
  cipher: Type.Literal("aes-128-ctr"),
  cipherparams: Type.Object({ iv: hex(16) }),
  ciphertext: hex(32),
  mac: hex(32),
};

const Scrypt = Type.Object({
  ...cipher,
  kdf: Type.Literal("scrypt"),
  kdfparams: Type.Object({ dklen: Type.Literal(32), n: count, r: count, p: count, salt }),
});
const Pbkdf2 = Type.Object({
  ...cipher,
  kdf: Type.Literal("pbkdf2"),
  kdfparams: Type.Object({ dklen: Type.Literal(32), c: count, prf: Type.Literal("hmac-sha256"), salt }),
});

/** Web3 Secret Storage, version 3, as `cast wallet` and geth write it. */
const Keystore = Type.Object({
  version: Type.Literal(3),
  address: Type.Optional(Type.String({ pattern: "^(?:0x)?[0-9a-fA-F]{40}$" })),
  crypto: Type.Union([Scrypt, Pbkdf2]),
});
type Crypto = Static<typeof Keystore>["crypto"];

const runScrypt = promisify<string, Uint8Array, number, object, Buffer>(scrypt);
const runPbkdf2 = promisify(pbkdf2);

/**
 * Opens an encrypted keystore.
 *
 * @param text The file's content.
 * @returns Its account, or what is wrong, which repeats nothing of the file or the password.
 */
export async function openKeystore(text: string, password: string): Promise<Result<LocalAccount>> {
  const json = parseJson(text);
  if (!Value.Check(Keystore, json)) {
    return err("is not a keystore: version 3 of Web3 Secret Storage, aes-128-ctr, with scrypt or pbkdf2");
  }
  const { address, crypto } = json;
  const derived = await deriveKey(crypto, password);
  if (!derived.ok) return derived;
  const [encryption, authentication] = [derived.value.subarray(0, 16), derived.value.subarray(16)];
  const ciphertext = bytesOf(crypto.ciphertext);
  const mac = keccak256(concatBytes([authentication, ciphertext]), "bytes");
  if (!timingSafeEqual(mac, bytesOf(crypto.mac))) return err("does not open with this password");
  const decipher = createDecipheriv("aes-128-ctr", encryption, bytesOf(crypto.cipherparams.iv));
  const account = toAccount(bytesToHex(Buffer.concat([decipher.update(ciphertext), decipher.final()])));
  if (account === null) return err("holds no private key: it is not above 0 and below the curve's order");
  const named = address === undefined ? null : (`0x${address.replace(/^0x/, "")}` as const);
  if (named !== null && !isAddressEqual(named, account.address)) {
    return err(`names the address ${named}, and its key has ${account.address}`);
  }
  return ok(account);
}

async function deriveKey({ kdf, kdfparams }: Crypto, password: string): Promise<Result<Uint8Array>> {
  const salted = bytesOf(kdfparams.salt);
  if (kdf === "pbkdf2") {
    const { c } = kdfparams;
    if (c > MAX_PBKDF2_ROUNDS) return err(`asks for ${c} rounds of pbkdf2, more than ${MAX_PBKDF2_ROUNDS}`);
    return ok(await runPbkdf2(password, salted, c, 32, "sha256"));
  }
  const { n, r, p } = kdfparams;
  // RFC 7914, section 2. Keystores of 2014 have r = 1 with a larger n, and only their own programs open them.
  if (n < 2 || !Number.isInteger(Math.log2(n)) || Math.log2(n) >= 16 * r) {
    return err(`asks for what scrypt has not: n = ${n} is no power of two, or not below 2^(16 * ${r})`);
  }
  const bytes = 128 * n * r;
  if (bytes > MAX_SCRYPT_BYTES || n * r * p > MAX_SCRYPT_WORK) {
    return err(`asks for more of scrypt than is given: n = ${n}, r = ${r}, p = ${p}`);
  }
  // Beside the large table, OpenSSL counts p blocks and two to work with.
  const maxmem = bytes + 128 * r * (p + 2);
  return ok(await runScrypt(password, salted, 32, { N: n, r, p, maxmem }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toAccount(key: Hex): LocalAccount | null {
  try {
    return fromPrivateKey(key);
  } catch {
    // The library's own error could hold the key.
    return null;
  }
}

const bytesOf = (digits: string) => hexToBytes(`0x${digits}`);
