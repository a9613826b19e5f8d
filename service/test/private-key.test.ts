import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadAccount, loadAccounts } from "../src/private-key.js";

const KEYS = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()] as const;
const ADDRESSES = KEYS.map((key) => privateKeyToAccount(key).address);
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keys-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

function write(text: string): string {
  const path = join(folder, "keys");
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

test("several keys are read in the order in which they are written, and leave the environment", () => {
  const env: NodeJS.ProcessEnv = { KEY: KEYS.join(" ") };
  expect(loadAccounts(env, "KEY").accounts.map(({ address }) => address)).toEqual(ADDRESSES);
  expect(env).toEqual({});
});

test("several keys are read from a file, one a line", () => {
  const { accounts, warnings } = loadAccounts({ KEY_FILE: write(`${KEYS.join("\n")}\n`) }, "KEY");
  expect([accounts.map(({ address }) => address), warnings]).toEqual([ADDRESSES, []]);
});

test.each([
  ["a key twice", `${KEYS[0]} ${KEYS[1]} ${KEYS[0]}`, "the same private key twice"],
  ["one that is none", `${KEYS[0]} ${KEYS[1]}0`, "does not hold a private key"],
  ["nothing", " ", "does not hold a private key"],
])("%s is refused, and no key is shown", (_, text, problem) => {
  const load = () => loadAccounts({ KEY: text }, "KEY");
  expect(load).toThrow(problem);
  expect(load).not.toThrow(KEYS[0].slice(2, 20));
});

test("where one key is wanted, two are refused", () => {
  expect(loadAccount({ KEY: KEYS[0] }, "KEY").account.address).toBe(ADDRESSES[0]);
  expect(() => loadAccount({ KEY: KEYS.join(" ") }, "KEY")).toThrow("take one private key, and there are 3");
});
