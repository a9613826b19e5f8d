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

/** Web3 Secret Storage, version 3, as geth, Foundry, ethers, web3.js and MyEtherWallet write it. */
const Keystore = Type.Object({
  version: Type.Literal(3),
  address: Type.Optional(Type.String({ pattern: "^(?:0x)?[0-9a-fA-F]{40}$" })),
  crypto: Type.Union([Scrypt, Pbkdf2]),
});
type Keystore = Static<typeof Keystore>;

const ADVICE =
  "Needed is Web3 Secret Storage, version 3, with aes-128-ctr and scrypt or pbkdf2: create it with " +
  '"cast wallet import"';

/**
 * Opens an encrypted keystore. Deriving its key blocks the process, for about two seconds with geth's defaults.
 *
 * @param text The file's content.
 * @returns The account, or an error to follow the file's name. It repeats neither the key nor the password.
 */
export function openKeystore(text: string, password: string): Result<LocalAccount> {
  const keystore = withLowerCaseNames(parseJson(text));
  if (!Value.Check(Keystore, keystore))
    return err(`is not a keystore that can be used: ${formOf(text, keystore)}. ${ADVICE}`);
  const excess = excessiveWork(keystore.crypto);
  if (excess !== null) return err(excess);
  const key = decryptWithAny(keystore, spellingsOf(password));
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

/** ethers writes "Crypto". */
function withLowerCaseNames(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]));
}

/** Says what a file is that is not a keystore, in place of one. It repeats no secret. */
function formOf(text: string, value: unknown): string {
  if (/^\s*(?:0x)?[0-9a-f]{64}\s*$/i.test(text)) return "it is a private key itself";
  if (/^\s*(?:[a-z]+\s+){11,23}[a-z]+\s*$/.test(text)) return "it has words, as a mnemonic has";
  if (Array.isArray(value)) return "it is a list, whose keystores have to be in a file each";
  if (typeof value !== "object" || value === null) return "it is not JSON";
  const { encseed, version, crypto } = value as { encseed?: unknown; version?: unknown; crypto?: unknown };
  if (encseed !== undefined) return "it is a wallet of Ethereum's presale";
  if (version === 4) return "it has the version 4, of a validator's key";
  if (version !== 3) return `it has the version ${quoted(version)}`;
  if (typeof crypto !== "object" || crypto === null) return "it has no crypto";
  const { cipher: name, kdf } = crypto as { cipher?: unknown; kdf?: unknown };
  if (name !== "aes-128-ctr") return `its cipher is ${quoted(name)}`;
  if (kdf !== "scrypt" && kdf !== "pbkdf2") return `its kdf is ${quoted(kdf)}`;
  const form = Type.Object({ ...Keystore.properties, crypto: kdf === "scrypt" ? Scrypt : Pbkdf2 });
  return `its ${Value.Errors(form, value).First()?.path.slice(1).replaceAll("/", ".")} has another form`;
}

const quoted = (value: unknown) => JSON.stringify(value)?.slice(0, 40) ?? "that is missing";

/**
 * Lists how programs encode a password: as it is typed, which keyboards compose and macOS's file names decompose, and
 * normalized, as ethers does.
 */
function spellingsOf(password: string): readonly string[] {
  const forms = ["NFC", "NFD", "NFKC"].map((form) => password.normalize(form));
  return [...new Set([password, ...forms])];
}

function decryptWithAny(keystore: Keystore, passwords: readonly string[]): Hex | null {
  for (const password of passwords) {
    const key = decrypt(keystore, password);
    if (key !== null) return key;
  }
  return null;
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
