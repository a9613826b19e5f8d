import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OWNER } from "@dataset-oracle/devnet/accounts";
import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { COMMITTEE_DIRECTORY } from "@dataset-oracle/protocol/fixed-addresses";
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { runCommand } from "./support/run-command.js";
import { startTestChain } from "./support/test-chain.js";

const PROVIDER_PRIVATE_KEY: Hex = `0x${"11".repeat(32)}`;
const PROVIDER = privateKeyToAddress(PROVIDER_PRIVATE_KEY);
/** Two of a development chain's accounts, which are unlocked, and the key of the second. */
const DEPLOYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const PUBLISHER_PRIVATE_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const PLACE = ["--url", "https://provider.example"];

const folder = mkdtempSync(join(tmpdir(), "announce-"));
const chain = await startTestChain();
afterAll(() => chain.close());
const { client } = chain;
const rpcUrl = chain.rpc.url;
const directory = await chain.deploy("CommitteeDirectory");
const deployment = write("42.json", { chainId: 42, datasets: {}, committeeDirectory: directory });

function write(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

afterEach(() => {
  vi.useRealTimers();
});

let announcements = 0;
/** Announces later than before, because the directory takes only what is newer by its whole seconds. */
function announce(args: readonly string[], env: Record<string, string> = { PROVIDER_PRIVATE_KEY }) {
  vi.useRealTimers();
  announcements += 1;
  vi.setSystemTime(Date.now() + announcements * 1_000);
  return runCommand(["announce", "--deployment", deployment, ...args], env);
}

/** Reads the latest announcement as an operator does. */
async function latest(address = directory) {
  const announced = { address, abi: committeeDirectoryAbi, functionName: "announcementOf", args: [PROVIDER] } as const;
  const [url, issuedAt] = await client.readContract(announced);
  expect(Math.abs(Date.now() / 1_000 - Number(issuedAt))).toBeLessThan(600);
  return url;
}

describe("provider announce", () => {
  test("prints a transaction that anyone can send", async () => {
    const args = ["announce", "--deployment", deployment, ...PLACE] as const;
    const { code, stdout } = await runCommand(args, { PROVIDER_PRIVATE_KEY });
    expect(code).toBe(0);
    const { chainId, to, data } = JSON.parse(/\{[\s\S]*?\n\}/.exec(stdout)?.[0] ?? "");
    expect([chainId, to]).toEqual([42, directory]);
    expect(stdout).toContain(`cast send ${directory} ${data} --account <keystore>`);
    await client.waitForTransactionReceipt({
      hash: await client.sendTransaction({ account: OWNER.address, to, data }),
    });
    expect(await latest()).toBe("https://provider.example");
  });

  test("sends it from another account, because the provider's has no Ether; and withdraws the URL", async () => {
    expect(await client.getBalance({ address: PROVIDER })).toBe(0n);
    const local = ["--url", "http://127.0.0.1:8080", "--allow-local", "--rpc-url", `\${RPC_URL}`];
    const env = { PROVIDER_PRIVATE_KEY, PUBLISHER_PRIVATE_KEY, RPC_URL: rpcUrl };
    const { code, stdout, stderr } = await announce(local, env);
    expect([code, stderr]).toEqual([0, ""]);
    const announced = `Announced the URL http://127.0.0.1:8080 of provider ${PROVIDER} on network 42 in block `;
    expect(stdout).toMatch(new RegExp(`^${announced}\\d+ \\(0x[0-9a-f]{64}\\)\\.$`, "m"));
    expect(await latest()).toBe("http://127.0.0.1:8080");
    const withdrawn = await announce(["--withdraw", "--rpc-url", rpcUrl, "--from", DEPLOYER]);
    expect(withdrawn.stdout).toContain(`Withdrew the URL of provider ${PROVIDER} on network 42`);
    expect(await latest()).toBe("");
  });

  test("needs no more of the network than an endpoint", async () => {
    const announceThere = () =>
      runCommand(["announce", ...PLACE, "--rpc-url", rpcUrl, "--from", DEPLOYER], { PROVIDER_PRIVATE_KEY });
    const missing = await announceThere();
    const problem = `Network 42 has no directory at ${COMMITTEE_DIRECTORY}.`;
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining(problem)]);
    const code = await client.getCode({ address: directory });
    await client.setCode({ address: COMMITTEE_DIRECTORY, bytecode: code as Hex });
    expect((await announceThere()).code).toBe(0);
    expect(await latest(COMMITTEE_DIRECTORY)).toBe("https://provider.example");
  });

  test("names the account that cannot pay, and the network", async () => {
    const poor = { PROVIDER_PRIVATE_KEY, PUBLISHER_PRIVATE_KEY: PROVIDER_PRIVATE_KEY };
    const { code, stderr } = await announce([...PLACE, "--rpc-url", rpcUrl], poor);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${PROVIDER} has too little Ether on network 42 `)]);
  });

  const url = (text: string) => ["--url", text];
  test.each<[args: readonly string[], message: string]>([
    [[], "Give the URL at which your provider answers: --url URL."],
    [["--withdraw", ...PLACE], "--withdraw announces that your provider has no URL any more"],
    [url("ftp://provider.example"), "--url is not an https URL"],
    [url("http://127.0.0.1:8080"), "only by https, on port 443 of a public host"],
    [[...url("http://10.0.0.7:8080"), "--allow-local"], "only by https, on port 443 of a public host"],
    [url("https://me:secret@provider.example"), "--url is not an https URL"],
    [url(`https://provider.example/${"a".repeat(240)}`), "--url has 265 bytes, but the directory takes at most 256"],
    [[...PLACE, "--rpc-url", "http://127.0.0.1:1"], "PUBLISHER_PRIVATE_KEY_FILE"],
  ])("%j is told what to fix", async (args, message) => {
    const { code, stdout, stderr } = await announce(args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
    expect(stderr).not.toContain("secret");
  });

  test("needs a network, and the provider's key", async () => {
    const nowhere = await runCommand(["announce", ...PLACE], { PROVIDER_PRIVATE_KEY });
    expect(nowhere.stderr).toContain("Name the network: --rpc-url URL or --deployment FILE.");
    const unset = await runCommand(["announce", ...PLACE, "--rpc-url", `\${RPC_URL}`], { PROVIDER_PRIVATE_KEY });
    expect(unset.stderr).toContain("the variable RPC_URL is unset or empty");
    expect((await announce(PLACE, {})).stderr).toContain("PROVIDER_PRIVATE_KEY_FILE");
  });
});
