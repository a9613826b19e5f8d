import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { findAccounts, loadAccount } from "./find-accounts.js";

const OWNER = { name: "A", signs: "anything" } as const;
const KEYS = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()] as const;
const ADDRESSES = KEYS.map((key) => privateKeyToAccount(key).address);
async function addressesOf(env: NodeJS.ProcessEnv) {
  const found = await findAccounts(env, OWNER);
  return found && { addresses: found.accounts.map(({ address }) => address), warnings: found.warnings };
}

test("several keys are read in the order in which they are written, and leave the environment", async () => {
  const env: NodeJS.ProcessEnv = { A_PRIVATE_KEY: KEYS.join(" ") };
  expect(await addressesOf(env)).toEqual({ addresses: ADDRESSES, warnings: [] });
  expect(env).toEqual({});
});

test("several keys are read from a file, one a line", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "keys-")), "keys");
  writeFileSync(path, `${KEYS.join("\n")}\n`, { mode: 0o600 });
  expect(await addressesOf({ A_PRIVATE_KEY_FILE: path })).toEqual({ addresses: ADDRESSES, warnings: [] });
});

test.each<[what: string, env: NodeJS.ProcessEnv, problem: string]>([
  ["a key twice", { A_PRIVATE_KEY: `${KEYS[0]} ${KEYS[1]} ${KEYS[0]}` }, "the same account twice"],
  ["text that is not a key", { A_PRIVATE_KEY: `${KEYS[0]} ${KEYS[1]}0` }, "does not hold a private key"],
  ["a number that is not a key", { A_PRIVATE_KEY: `0x${"ff".repeat(32)}` }, "does not hold a private key"],
  ["nothing", { A_PRIVATE_KEY: " " }, "does not hold a private key"],
  ["a key and its file", { A_PRIVATE_KEY: KEYS[0], A_PRIVATE_KEY_FILE: "keys" }, "are set. Keep one."],
  ["a key as the path of its file", { A_PRIVATE_KEY_FILE: KEYS[0].slice(2) }, "A_PRIVATE_KEY_FILE looks like a key."],
  ["most of a key as the path", { A_PRIVATE_KEY_FILE: KEYS[0].slice(0, -1) }, "A_PRIVATE_KEY_FILE looks like a key."],
])("%s is refused, and no key is shown", async (_, env, problem) => {
  const error = await findAccounts(env, OWNER).then(String, String);
  expect(error).toContain(problem);
  expect(error).not.toContain(KEYS[0].slice(2, 20));
});

test("several keys are refused where one is expected", async () => {
  expect((await loadAccount({ A_PRIVATE_KEY: KEYS[0] }, OWNER)).account.address).toBe(ADDRESSES[0]);
  await expect(loadAccount({ A_PRIVATE_KEY: KEYS.join(" ") }, OWNER)).rejects.toThrow(
    "3 private keys are configured, in A_PRIVATE_KEY",
  );
});

test("without a key, findAccounts returns null and loadAccount says how to set one", async () => {
  expect(await findAccounts({}, OWNER)).toBeNull();
  await expect(loadAccount({}, OWNER)).rejects.toThrow("Set A_PRIVATE_KEY_FILE to the path");
  await expect(loadAccount({}, OWNER, ["--from to an account"])).rejects.toThrow(
    /keystore, or --from to an account\.$/,
  );
});
