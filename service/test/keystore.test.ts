import { execFileSync } from "node:child_process";
import { createCipheriv, pbkdf2Sync, scryptSync } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { type Hex, hexToBytes, keccak256, recoverMessageAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { findAccounts, loadAccount } from "../src/keys/find-accounts.js";
import { openKeystore } from "../src/keys/keystore.js";

const PASSWORD = "correct horse: Zürich €5";
const KEY = generatePrivateKey();
const ADDRESS = privateKeyToAccount(KEY).address;
const OWNER = { name: "A", signs: "anything" } as const;
const PASSWORD_SET = { A_KEYSTORE_PASSWORD: PASSWORD };

const folder = mkdtempSync(join(tmpdir(), "keystore-"));
const write = (name: string, text: string, mode = 0o600) => {
  writeFileSync(join(folder, name), text, { mode });
  return join(folder, name);
};

const SALT = Buffer.alloc(32, 7);
const SCRYPT = { dklen: 32, n: 2, r: 8, p: 1, salt: SALT.toString("hex") };
const PBKDF2 = { dklen: 32, c: 2, prf: "hmac-sha256", salt: SALT.toString("hex") };

/** Encrypts a key as Web3 Secret Storage defines it, with the least work, and returns the keystore with changes. */
function keystoreOf(key: Hex, kdf: "scrypt" | "pbkdf2", change: object = {}, kdfparams: object = {}) {
  const isScrypt = kdf === "scrypt";
  const derived = isScrypt
    ? scryptSync(PASSWORD, SALT, 32, { N: SCRYPT.n, r: SCRYPT.r, p: SCRYPT.p })
    : pbkdf2Sync(PASSWORD, SALT, PBKDF2.c, 32, "sha256");
  const iv = Buffer.alloc(16, 5);
  const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(hexToBytes(key)), cipher.final()]);
  return {
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: iv.toString("hex") },
      ciphertext: ciphertext.toString("hex"),
      kdf,
      mac: keccak256(Buffer.concat([derived.subarray(16), ciphertext])).slice(2),
      ...change,
      kdfparams: { ...(isScrypt ? SCRYPT : PBKDF2), ...kdfparams },
    },
    id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    version: 3,
  };
}

const OTHER_KEY = generatePrivateKey();
const keystores = join(folder, "keystores");
mkdirSync(keystores);
const first = write("keystores/a", JSON.stringify(keystoreOf(KEY, "scrypt")));
write("keystores/b", JSON.stringify(keystoreOf(OTHER_KEY, "scrypt")));

describe("a keystore", () => {
  test("as cast wallet writes it is decrypted with its password, from a file or a variable, and its account signs", async () => {
    const imported = ["c", "--keystore-dir", folder, "--private-key", KEY, "--unsafe-password", PASSWORD];
    execFileSync(foundryBinary("cast"), ["wallet", "import", ...imported]);
    const keystore = join(folder, "c");
    chmodSync(keystore, 0o600);
    const file = write("password", `${PASSWORD}\n`);
    const env: NodeJS.ProcessEnv = { A_KEYSTORE: keystore, A_KEYSTORE_PASSWORD_FILE: file };
    const { account, warnings } = await loadAccount(env, OWNER);
    expect([account.address, warnings]).toEqual([ADDRESS, []]);
    const signature = await account.signMessage({ message: "a message" });
    expect(await recoverMessageAddress({ message: "a message", signature })).toBe(ADDRESS);

    const inEnvironment: NodeJS.ProcessEnv = { A_KEYSTORE: keystore, A_KEYSTORE_PASSWORD: PASSWORD };
    expect((await loadAccount(inEnvironment, OWNER)).account.address).toBe(ADDRESS);
    expect(inEnvironment).toEqual({ A_KEYSTORE: keystore });
  });

  test("can be one of several in a folder, read in the order of their names, also for one network", async () => {
    const env = { A_KEYSTORE_42: keystores, A_KEYSTORE_42_PASSWORD: PASSWORD };
    const found = await findAccounts(env, OWNER, 42);
    const addresses = [ADDRESS, privateKeyToAccount(OTHER_KEY).address];
    expect(found?.accounts.map(({ address }) => address)).toEqual(addresses);
    expect(await findAccounts(env, OWNER)).toBeNull();
  });

  test("that others can read gives a warning, and so does its password", async () => {
    const open = write("open", readFileSync(first, "utf8"));
    const password = write("open-password", PASSWORD);
    chmodSync(open, 0o644);
    chmodSync(password, 0o640);
    const { warnings } = await loadAccount({ A_KEYSTORE: open, A_KEYSTORE_PASSWORD_FILE: password }, OWNER);
    expect(warnings).toEqual([
      "The file that A_KEYSTORE_PASSWORD_FILE names can be read by others (mode 640). Run chmod 600 on it.",
      "The file that A_KEYSTORE names can be read by others (mode 644). Run chmod 600 on it.",
    ]);
  });
});

describe("an invalid configuration is reported without secrets", () => {
  const mixed = join(folder, "mixed");
  cpSync(keystores, mixed, { recursive: true });
  writeFileSync(join(mixed, "notes.txt"), "not a keystore");

  test.each<[what: string, keystore: string, more: NodeJS.ProcessEnv, problem: string]>([
    [
      "another password",
      first,
      { A_KEYSTORE_PASSWORD: "an0therpassword" },
      "does not open with this password. Correct the password",
    ],
    ["no password", first, {}, "Set A_KEYSTORE_PASSWORD_FILE to the path"],
    ["a keystore and a key", first, { A_PRIVATE_KEY: KEY }, "Both A_PRIVATE_KEY and A_KEYSTORE are set"],
    ["a keystore that is not there", join(folder, "nowhere"), PASSWORD_SET, "A_KEYSTORE names cannot be read: ENOENT"],
    ["the key where the path belongs", KEY, PASSWORD_SET, "A_KEYSTORE looks like a key"],
    [
      "a wrong file in a folder of keystores",
      mixed,
      PASSWORD_SET,
      "The file notes.txt in the folder that A_KEYSTORE names is not a keystore",
    ],
  ])("%s", async (_what, keystore, more, problem) => {
    const error = await loadAccount({ A_KEYSTORE: keystore, ...more }, OWNER).then(String, String);
    expect(error).toContain("ConfigError: ");
    expect(error).toContain(problem);
    for (const secret of [KEY.slice(2), PASSWORD, "an0therpassword"]) expect(error).not.toContain(secret);
  });

  test("an empty folder", async () => {
    const empty = mkdtempSync(join(tmpdir(), "keystores-"));
    await expect(loadAccount({ A_KEYSTORE: empty, ...PASSWORD_SET }, OWNER)).rejects.toThrow("is empty");
  });
});

describe("a password", () => {
  const composed = PASSWORD.normalize("NFC");
  const opensWith = (content: string | Uint8Array) => {
    const path = join(folder, "written");
    writeFileSync(path, content, { mode: 0o600 });
    const env = { A_KEYSTORE: first, A_KEYSTORE_PASSWORD_FILE: path };
    return expect(loadAccount(env, OWNER)).resolves.toMatchObject({ account: { address: ADDRESS } });
  };

  test.each(["", "\n", "\r\n", "\r"])("may end with %j, and begin with a byte order mark", async (end) => {
    await opensWith(composed + end);
    await opensWith(`\uFEFF${composed}${end}`);
    await opensWith(Buffer.from(`\uFEFF${composed}${end}`, "utf16le"));
    await opensWith(Buffer.from(`\uFEFF${composed}${end}`, "utf16le").swap16());
  });

  test("may be composed, decomposed or normalized otherwise than when the keystore was made", async () => {
    await opensWith(PASSWORD.normalize("NFD"));
    await opensWith(PASSWORD.replace("5", "\uFF15"));
  });

  test("opens a keystore that begins with a byte order mark", async () => {
    const marked = write("marked", `\uFEFF${readFileSync(first, "utf8")}`);
    expect((await loadAccount({ A_KEYSTORE: marked, ...PASSWORD_SET }, OWNER)).account.address).toBe(ADDRESS);
  });
});

describe("the format", () => {
  const changed = (change: object, kdfparams: object = {}) => keystoreOf(KEY, "scrypt", change, kdfparams);

  test.each(["scrypt", "pbkdf2"] as const)("is the defined one, with %s", (kdf) => {
    const opened = openKeystore(JSON.stringify(keystoreOf(KEY, kdf)), PASSWORD);
    expect(opened).toMatchObject({ ok: true, value: { address: ADDRESS } });
  });

  test("may name the address of its key, and no other", () => {
    const named = (address: string) => openKeystore(JSON.stringify({ ...changed({}), address }), PASSWORD);
    for (const name of [ADDRESS, ADDRESS.slice(2).toLowerCase()]) expect(named(name)).toMatchObject({ ok: true });
    const problem = `names the address 0x${"11".repeat(20)}, but its key belongs to ${ADDRESS}. Correct the address`;
    expect(named("11".repeat(20))).toEqual({ ok: false, error: problem });
  });

  test("may have a Crypto, as ethers writes it", () => {
    const { crypto, ...rest } = changed({});
    const opened = openKeystore(
      JSON.stringify({ ...rest, Crypto: crypto, "x-ethers": { client: "ethers" } }),
      PASSWORD,
    );
    expect(opened).toMatchObject({ ok: true, value: { address: ADDRESS } });
  });

  test.each<[string, string]>([
    [`0x${"ab".repeat(32)}`, "it is a private key itself"],
    [Array(12).fill("abandon").join(" "), "it has words, as a mnemonic has"],
    ["notes", "it is not JSON"],
    [JSON.stringify([changed({})]), "it is a list, whose keystores have to be in a file each"],
    ['{"encseed": "00", "ethaddr": "00"}', "it is a wallet of Ethereum's presale"],
    [JSON.stringify({ ...changed({}), version: "1" }), 'it has the version "1"'],
    ['{"version": 4, "crypto": {"kdf": {"function": "scrypt"}}}', "it has the version 4, of a validator's key"],
    ['{"version": 3}', "it has no crypto"],
    [JSON.stringify(changed({ cipher: "aes-256-ctr" })), 'its cipher is "aes-256-ctr"'],
    [JSON.stringify(changed({ kdf: "argon2id" })), 'its kdf is "argon2id"'],
    [JSON.stringify(changed({ ciphertext: "00".repeat(31) })), "its crypto.ciphertext has another form"],
    [JSON.stringify({ ...changed({}), address: "XE86" }), "its address has another form"],
  ])("of %s is named in the error", (text, form) => {
    const opened = openKeystore(text, PASSWORD);
    expect(opened).toEqual({ ok: false, error: expect.stringContaining(`be used: ${form}. Needed is Web3`) });
  });

  test.each<[string, unknown, string]>([
    ["another ciphertext", changed({ ciphertext: "00".repeat(32) }), "does not open"],
    ["another mac", changed({ mac: "00".repeat(32) }), "does not open"],
    ["an n that is no power of two", changed({}, { n: 8191 }), "not a power of two"],
    ["an n that would take a gigabyte", changed({}, { n: 2 ** 20 }), "more scrypt work than is allowed"],
    ["an r that would take a gigabyte", changed({}, { n: 2, r: 2 ** 24 }), "more scrypt work than is allowed"],
    ["a p that would take an hour", changed({}, { p: 2 ** 20 }), "more scrypt work than is allowed"],
    ["a p that would take 600 MB", changed({}, { r: 1, p: 2 ** 22 }), "more scrypt work than is allowed"],
    [
      "a p whose blocks would take a minute to hash",
      changed({}, { r: 1, p: 2 ** 20 }),
      "more scrypt work than is allowed",
    ],
    ["pbkdf2 rounds that would take an hour", keystoreOf(KEY, "pbkdf2", {}, { c: 2 ** 31 - 1 }), "rounds of pbkdf2"],
    ["the parameters of geth's own, which are accepted, and another key", changed({}, { n: 2 ** 18 }), "does not open"],
  ])("with %s it is refused", (_what, keystore, problem) => {
    const opened = openKeystore(JSON.stringify(keystore) ?? "{", PASSWORD);
    expect(opened).toEqual({ ok: false, error: expect.stringContaining(problem) });
  });
});
