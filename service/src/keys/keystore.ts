import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import * as OxKeystore from "ox/Keystore";
import { type Hex, isAddressEqual, type LocalAccount } from "viem";
import { accountFromPrivateKey } from "./secp256k1-account.js";

/**
 * Bounds of the work to open a keystore, so that a foreign file cannot exhaust the machine. For scrypt they are little
 * more than the memory of geth's default (n = 2^18, r = 8, p = 1), and four times its work.
 */
const MAX_SCRYPT_BYTES = 257 * 1024 * 1024;
const MAX_SCRYPT_WORK = 4 * scryptWork(2 ** 18, 8, 1);
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
type Keystore = Static<typeof Keystore>;

/**
 * Opens an encrypted keystore. Deriving its key blocks the process, for about two seconds with geth's defaults.
 *
 * @param text The file's content.
 * @returns The account, or an error to follow the file's name. It repeats neither the key nor the password.
 */
export function openKeystore(text: string, password: string): Result<LocalAccount> {
  const keystore = parseJson(text);
  if (!Value.Check(Keystore, keystore)) {
    return err(
      "is not a keystore (Web3 Secret Storage version 3, aes-128-ctr with scrypt or pbkdf2). Create one with " +
        '"cast wallet import"',
    );
  }
  const excess = excessiveWork(keystore.crypto);
  if (excess !== null) return err(excess);
  const key = decrypt(keystore, password);
  if (key === null) return err("does not open with this password. Correct the password");
  const account = accountOf(key);
  if (account === null) return err("holds an invalid private key: it must be above 0 and below the curve's order");
  const named = keystore.address === undefined ? null : (`0x${keystore.address.replace(/^0x/, "")}` as const);
  if (named !== null && !isAddressEqual(named, account.address)) {
    return err(`names the address ${named}, but its key belongs to ${account.address}. Correct the address`);
  }
  return ok(account);
}

/** Explains why a keystore's key is not derived; null when it may be. */
function excessiveWork({ kdf, kdfparams }: Keystore["crypto"]): string | null {
  if (kdf === "pbkdf2") {
    const { c } = kdfparams;
    return c > MAX_PBKDF2_ROUNDS ? `needs ${c} rounds of pbkdf2. Create it with at most ${MAX_PBKDF2_ROUNDS}` : null;
  }
  const { n, r, p } = kdfparams;
  if (n < 2 || !Number.isInteger(Math.log2(n))) return `has the scrypt parameter n = ${n}, which is not a power of two`;
  if (128 * r * (n + p) > MAX_SCRYPT_BYTES || scryptWork(n, r, p) > MAX_SCRYPT_WORK) {
    return `needs more scrypt work than is allowed: n = ${n}, r = ${r}, p = ${p}. Create it again with geth's defaults`;
  }
  return null;
}

/** Returns the work of scrypt, in mixed blocks: each of the r * p blocks is hashed as well, as if n were 32 larger. */
function scryptWork(n: number, r: number, p: number): number {
  return r * p * (n + 32);
}

function decrypt({ version, crypto }: Keystore, password: string): Hex | null {
  const keystore = { id: "", version, crypto };
  // ox's toKeyAsync ignores the file's r and p.
  const key = OxKeystore.toKey(keystore, { password });
  try {
    return OxKeystore.decrypt(keystore, key);
  } catch {
    // The form has been checked, so the cause is a checksum that does not match this password's key.
    return null;
  }
}

function accountOf(key: Hex): LocalAccount | null {
  try {
    return accountFromPrivateKey(key);
  } catch {
    // The library's error is dropped: it could hold the key.
    return null;
  }
}
