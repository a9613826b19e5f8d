import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { recoverTypedDataAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { findAccounts, loadAccount } from "../src/keys/find-accounts.js";
import { openKeystore } from "../src/keys/keystore.js";

const PASSWORD = "correct horse: Zürich €5";
const KEY = generatePrivateKey();
const ADDRESS = privateKeyToAccount(KEY).address;

/** These vectors are from the definition of Web3 Secret Storage. */
const PUBLISHED = {
  password: "testpassword",
  address: "0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b",
  pbkdf2: {
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
      ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
      kdf: "pbkdf2",
      kdfparams: {
        c: 262144,
        dklen: 32,
        prf: "hmac-sha256",
        salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
      },
      mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
    },
    id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    version: 3,
  },
  scrypt: {
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: "83dbcc02d8ccb40e466191a123791e0e" },
      ciphertext: "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
      kdf: "scrypt",
      kdfparams: {
        dklen: 32,
        n: 262144,
        p: 8,
        r: 1,
        salt: "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
      },
      mac: "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
    },
    id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    version: 3,
  },
} as const;

let folder: string;
/** These two keystores are as cast writes them. */
let keystores: string;
let first: string;

const cast = (...args: string[]) => execFileSync(foundryBinary("cast"), ["wallet", ...args], { encoding: "utf8" });
const write = (name: string, text: string, mode = 0o600) => {
  writeFileSync(join(folder, name), text, { mode });
  return join(folder, name);
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keystore-"));
  keystores = join(folder, "keystores");
  mkdirSync(keystores);
  cast("import", "a", "--keystore-dir", keystores, "--private-key", KEY, "--unsafe-password", PASSWORD);
  cast("new", keystores, "b", "--unsafe-password", PASSWORD);
  for (const name of readdirSync(keystores)) chmodSync(join(keystores, name), 0o600);
  first = join(keystores, "a");
});

describe("a keystore as cast wallet writes it", () => {
  test("is decrypted with its password, from a file or a variable, and its account signs", async () => {
    const file = write("password", `${PASSWORD}\n`);
    const env: NodeJS.ProcessEnv = { A_KEYSTORE: first, A_KEYSTORE_PASSWORD_FILE: file };
    const { account, warnings } = await loadAccount(env, "A");
    expect([account.address, warnings]).toEqual([ADDRESS, []]);
    const typed = {
      domain: {},
      types: { T: [{ name: "n", type: "uint256" }] },
      primaryType: "T",
      message: { n: 1n },
    } as const;
    const signature = await account.signTypedData(typed);
    expect(await recoverTypedDataAddress({ ...typed, signature })).toBe(ADDRESS);

    const inEnvironment: NodeJS.ProcessEnv = { A_KEYSTORE: first, A_KEYSTORE_PASSWORD: PASSWORD };
    expect((await loadAccount(inEnvironment, "A")).account.address).toBe(ADDRESS);
    expect(inEnvironment).toEqual({ A_KEYSTORE: first });
  });

  test("can be one of several in a folder, read in the order of their names, also for one network", async () => {
    const env = { A_KEYSTORE_42: keystores, A_KEYSTORE_42_PASSWORD: PASSWORD };
    const found = await findAccounts(env, "A", 42);
    const second = cast("address", "--keystore", join(keystores, "b"), "--password", PASSWORD).trim();
    expect(found?.accounts.map(({ address }) => address)).toEqual([ADDRESS, second]);
    expect(await findAccounts(env, "A")).toBeNull();
  });

  test("that others can read gives a warning, and so does its password", async () => {
    const open = write("open", readFileSync(first, "utf8"));
    const password = write("open-password", PASSWORD);
    chmodSync(open, 0o644);
    chmodSync(password, 0o640);
    const { warnings } = await loadAccount({ A_KEYSTORE: open, A_KEYSTORE_PASSWORD_FILE: password }, "A");
    expect(warnings).toEqual([
      "The file that A_KEYSTORE_PASSWORD_FILE names can be read by others (mode 640). Run chmod 600 on it.",
      "The file that A_KEYSTORE names can be read by others (mode 644). Run chmod 600 on it.",
    ]);
  });
});

describe("an invalid configuration is reported without secrets", () => {
  const wrong: [what: string, env: () => NodeJS.ProcessEnv, problem: string][] = [
    [
      "another password",
      () => ({ A_KEYSTORE: first, A_KEYSTORE_PASSWORD: "an0therpassword" }),
      "does not open with this password. Correct the password",
    ],
    ["no password", () => ({ A_KEYSTORE: first }), "Set A_KEYSTORE_PASSWORD_FILE to the path"],
    ["an empty password", () => ({ A_KEYSTORE: first, A_KEYSTORE_PASSWORD: "" }), "A_KEYSTORE_PASSWORD is empty"],
    [
      "two passwords",
      () => ({ A_KEYSTORE: first, A_KEYSTORE_PASSWORD: PASSWORD, A_KEYSTORE_PASSWORD_FILE: first }),
      "Both A_KEYSTORE_PASSWORD and A_KEYSTORE_PASSWORD_FILE are set",
    ],
    ["a password alone", () => ({ A_KEYSTORE_PASSWORD: PASSWORD }), "Set A_KEYSTORE to the keystore's path"],
    [
      "a keystore and a key",
      () => ({ A_KEYSTORE: first, A_PRIVATE_KEY: KEY }),
      "Both A_PRIVATE_KEY and A_KEYSTORE are set",
    ],
    [
      "a keystore that is not there",
      () => ({ A_KEYSTORE: join(folder, "nowhere"), A_KEYSTORE_PASSWORD: PASSWORD }),
      "A_KEYSTORE names cannot be read: ENOENT",
    ],
    [
      "the key where the path belongs",
      () => ({ A_KEYSTORE: KEY, A_KEYSTORE_PASSWORD: PASSWORD }),
      "A_KEYSTORE looks like a key",
    ],
    [
      "the password where the path belongs",
      () => ({ A_KEYSTORE: first, A_KEYSTORE_PASSWORD_FILE: PASSWORD }),
      "A_KEYSTORE_PASSWORD_FILE names cannot be read: ENOENT",
    ],
    [
      "a wrong file in a folder of keystores",
      () => {
        const mixed = join(folder, "mixed");
        cpSync(keystores, mixed, { recursive: true });
        writeFileSync(join(mixed, "notes.txt"), "not a keystore");
        return { A_KEYSTORE: mixed, A_KEYSTORE_PASSWORD: PASSWORD };
      },
      "The file notes.txt in the folder that A_KEYSTORE names is not a keystore",
    ],
    [
      "a file with a bare key",
      () => ({ A_KEYSTORE: write("bare", KEY), A_KEYSTORE_PASSWORD: PASSWORD }),
      "is not a keystore",
    ],
  ];
  test.each(wrong)("%s", async (_what, env, problem) => {
    const error = await loadAccount(env(), "A").then(String, String);
    expect(error).toContain(`ConfigError: `);
    expect(error).toContain(problem);
    for (const secret of [KEY.slice(2), PASSWORD, "an0therpassword"]) expect(error).not.toContain(secret);
  });

  test("an empty folder, and the same key twice", async () => {
    const empty = join(folder, "empty");
    mkdirSync(empty);
    await expect(loadAccount({ A_KEYSTORE: empty, A_KEYSTORE_PASSWORD: PASSWORD }, "A")).rejects.toThrow("is empty");
    copyFileSync(first, join(empty, "1"));
    copyFileSync(first, join(empty, "2"));
    await expect(findAccounts({ A_KEYSTORE: empty, A_KEYSTORE_PASSWORD: PASSWORD }, "A")).rejects.toThrow(
      "the same account twice",
    );
  });
});

describe("the format", () => {
  const { password, address, pbkdf2, scrypt } = PUBLISHED;

  test("is the published one, with pbkdf2 and with scrypt", () => {
    expect(openKeystore(JSON.stringify(pbkdf2), password)).toMatchObject({ ok: true, value: { address } });
    expect(openKeystore(JSON.stringify(scrypt), password)).toMatchObject({ ok: true, value: { address } });
    for (const name of [address, address.slice(2).toLowerCase()]) {
      const named = { ...pbkdf2, address: name };
      expect(openKeystore(JSON.stringify(named), password)).toMatchObject({ ok: true, value: { address } });
    }
    const refused = { ok: false, error: "does not open with this password. Correct the password" };
    expect(openKeystore(JSON.stringify(pbkdf2), `${password}1`)).toEqual(refused);
  });

  test("an address that does not match the key is reported", () => {
    const other = { ...pbkdf2, address: "11".repeat(20) };
    const problem = `names the address 0x${"11".repeat(20)}, but its key belongs to ${address}. Correct the address`;
    expect(openKeystore(JSON.stringify(other), password)).toEqual({ ok: false, error: problem });
  });

  /** Returns the keystore that cast made, with changes. */
  const changed = (change: object, kdfparams: object = {}) => {
    const keystore = JSON.parse(readFileSync(first, "utf8"));
    const crypto = { ...keystore.crypto, ...change, kdfparams: { ...keystore.crypto.kdfparams, ...kdfparams } };
    return { ...keystore, crypto };
  };
  const tooSlow = { ...pbkdf2.crypto, kdfparams: { ...pbkdf2.crypto.kdfparams, c: 2 ** 31 - 1 } };

  test.each<[string, () => unknown, string]>([
    ["no JSON", () => undefined, "is not a keystore"],
    ["another version", () => ({ ...changed({}), version: 1 }), "is not a keystore"],
    ["another cipher", () => changed({ cipher: "aes-256-ctr" }), "is not a keystore"],
    ["another function", () => changed({ kdf: "argon2id" }), "is not a keystore"],
    ["a shorter ciphertext", () => changed({ ciphertext: "00".repeat(31) }), "is not a keystore"],
    ["another ciphertext", () => changed({ ciphertext: "00".repeat(32) }), "does not open"],
    ["another mac", () => changed({ mac: "00".repeat(32) }), "does not open"],
    ["a longer derived key", () => changed({}, { dklen: 64 }), "is not a keystore"],
    ["an n that is no power of two", () => changed({}, { n: 8191 }), "not a power of two"],
    ["an n that would take a gigabyte", () => changed({}, { n: 2 ** 20 }), "more scrypt work than is allowed"],
    ["an r that would take a gigabyte", () => changed({}, { n: 2, r: 2 ** 24 }), "more scrypt work than is allowed"],
    ["a p that would take an hour", () => changed({}, { p: 2 ** 20 }), "more scrypt work than is allowed"],
    ["pbkdf2 rounds that would take an hour", () => ({ ...pbkdf2, crypto: tooSlow }), "rounds of pbkdf2"],
    ["a fraction", () => changed({}, { n: 2.5 }), "is not a keystore"],
    ["a negative number", () => changed({}, { r: -8 }), "is not a keystore"],
  ])("with %s it is refused", (_what, keystore, problem) => {
    const opened = openKeystore(JSON.stringify(keystore()) ?? "{", PASSWORD);
    expect(opened).toEqual({ ok: false, error: expect.stringContaining(problem) });
  });

  test("the parameters of geth's own keystores are accepted", () => {
    const opened = openKeystore(JSON.stringify(changed({}, { n: 2 ** 18, r: 8, p: 1 })), PASSWORD);
    expect(opened).toEqual({ ok: false, error: "does not open with this password. Correct the password" });
  });
});
