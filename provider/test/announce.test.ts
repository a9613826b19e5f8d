import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Anvil, startAnvil } from "@dataset-oracle/devnet/anvil";
import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { COMMITTEE_DIRECTORY } from "@dataset-oracle/protocol/fixed-addresses";
import {
  type Address,
  createTestClient,
  getAddress,
  type Hex,
  http,
  publicActions,
  walletActions,
  zeroAddress,
} from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProvider } from "./support/provider-process.js";

const PROVIDER_PRIVATE_KEY: Hex = `0x${"11".repeat(32)}`;
const PROVIDER = privateKeyToAddress(PROVIDER_PRIVATE_KEY);
const SUBMITTER = "0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199";
/** Two of a development chain's accounts, which are unlocked, and the key of the second. */
const DEPLOYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const PUBLISHER_PRIVATE_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const NODE = ["--url", "https://node.example", "--submitter", SUBMITTER];

let folder: string;
let anvil: Anvil;
let client: ReturnType<typeof connect>;
let directory: Address;
let deployment: string;

const connect = (url: string) =>
  createTestClient({ mode: "anvil", account: DEPLOYER, pollingInterval: 50, transport: http(url) })
    .extend(publicActions)
    .extend(walletActions);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "announce-"));
  anvil = await startAnvil({ chainId: 42 });
  client = connect(anvil.url);
  const artifact = new URL("../../out/CommitteeDirectory.sol/CommitteeDirectory.json", import.meta.url);
  const { bytecode } = JSON.parse(readFileSync(artifact, "utf8"));
  const hash = await client.deployContract({ abi: committeeDirectoryAbi, bytecode: bytecode.object, chain: null });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  directory = getAddress(contractAddress as Address);
  deployment = write("42.json", { chainId: 42, datasets: {}, committeeDirectory: directory });
});
afterAll(async () => {
  await anvil?.close();
});

function write(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const announce = (args: readonly string[], env: Record<string, string> = { PROVIDER_PRIVATE_KEY }) =>
  runProvider(["announce", "--deployment", deployment, ...args], env);

/** Reads the latest announcement as a node does: the block from the directory, then the event of that block. */
async function latest() {
  const contract = { address: directory, abi: committeeDirectoryAbi } as const;
  const args = [PROVIDER] as const;
  const [issuedAt, block] = await client.readContract({ ...contract, functionName: "announcementOf", args });
  const found = await client.getContractEvents({
    ...contract,
    eventName: "Announced",
    args: { provider: PROVIDER },
    fromBlock: block,
    toBlock: block,
    strict: true,
  });
  expect(found.at(-1)?.args.issuedAt).toBe(issuedAt);
  return found.at(-1)?.args;
}

describe("provider announce", () => {
  it("prints a transaction that anyone can send", async () => {
    const { code, stdout } = await announce(NODE);
    expect(code).toBe(0);
    const { chainId, to, value, data } = JSON.parse(/\{[\s\S]*?\n\}/.exec(stdout)?.[0] ?? "");
    expect([chainId, to, value]).toEqual([42, directory, "0x0"]);
    expect(stdout).toContain(`cast send ${directory} ${data} --rpc-url <url> --account <keystore>`);
    await client.waitForTransactionReceipt({ hash: await client.sendTransaction({ to, data, chain: null }) });
    expect(await latest()).toMatchObject({ provider: PROVIDER, url: "https://node.example", submitter: SUBMITTER });
  });

  it("sends it from another account, because the provider's has no Ether", async () => {
    expect(await client.getBalance({ address: PROVIDER })).toBe(0n);
    const local = ["--url", "http://127.0.0.1:8080", "--submitter", SUBMITTER, "--allow-local"];
    const other = [...local, "--rpc-url", anvil.url];
    const { code, stdout, stderr } = await announce(other, { PROVIDER_PRIVATE_KEY, PUBLISHER_PRIVATE_KEY });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      new RegExp(
        `^Announced the node http://127.0.0.1:8080 of provider ${PROVIDER} on network 42 in block \\d+ ` +
          "\\(0x[0-9a-f]{64}\\)\\.$",
        "m",
      ),
    );
    expect(await latest()).toMatchObject({ url: "http://127.0.0.1:8080", submitter: SUBMITTER });
  });

  it("needs no more of the network than an endpoint", async () => {
    const args = ["announce", ...NODE, "--rpc-url", anvil.url, "--from", DEPLOYER];
    const missing = await runProvider(args, { PROVIDER_PRIVATE_KEY });
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining(`Network 42 has no directory at ${COMMITTEE_DIRECTORY}.`),
    ]);
    const code = await client.getCode({ address: directory });
    await client.setCode({ address: COMMITTEE_DIRECTORY, bytecode: code as Hex });
    const { stdout } = await runProvider(args, { PROVIDER_PRIVATE_KEY });
    expect(stdout).toContain(`Announced the node https://node.example of provider ${PROVIDER} on network 42`);
    const announced = await client.readContract({
      ...{ address: COMMITTEE_DIRECTORY, abi: committeeDirectoryAbi },
      ...{ functionName: "announcementOf", args: [PROVIDER] },
    });
    expect(announced[1]).toBeGreaterThan(0n);
  });

  it("withdraws the node", async () => {
    const { stdout } = await announce(["--withdraw", "--rpc-url", anvil.url, "--from", DEPLOYER]);
    expect(stdout).toContain(`Withdrew the node of provider ${PROVIDER} on network 42`);
    expect(await latest()).toMatchObject({ url: "", submitter: zeroAddress });
  });

  it("names the account that cannot pay, and the network", async () => {
    const poor = { PROVIDER_PRIVATE_KEY, PUBLISHER_PRIVATE_KEY: PROVIDER_PRIVATE_KEY };
    const { code, stderr } = await announce([...NODE, "--rpc-url", anvil.url], poor);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${PROVIDER} has too little Ether on network 42 `)]);
  });

  it("refuses an endpoint of another network", async () => {
    const other = write("43.json", { chainId: 43, datasets: {}, committeeDirectory: directory });
    const sending = ["--rpc-url", anvil.url, "--from", DEPLOYER];
    const { code, stderr } = await runProvider(["announce", "--deployment", other, ...NODE, ...sending], {
      PROVIDER_PRIVATE_KEY,
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining("The endpoint belongs to network 42")]);
  });

  const url = (text: string) => ["--url", text, "--submitter", SUBMITTER];
  const refused: [args: readonly string[], message: string][] = [
    [[], "Give your node's URL and submitter: --url URL --submitter ADDRESS."],
    [["--url", "https://node.example"], "Give your node's URL and submitter"],
    [["node.example"], "announce takes only options. Write each value after its option."],
    [["--withdraw", "--url", "https://node.example"], "--withdraw announces that you run no node"],
    [["--url", "https://node.example", "--submitter", "0x12"], "--submitter: "],
    [url("node.example"), "--url is not an https URL"],
    [url("ftp://node.example"), "--url is not an https URL"],
    [url("https://node.example/?a=1"), "--url must not contain"],
    [url("http://127.0.0.1:8080"), "only by https, on port 443 of a public host"],
    [url("https://node.example:8443"), "only by https, on port 443 of a public host"],
    [[...url("http://10.0.0.7:8080"), "--allow-local"], "only by https, on port 443 of a public host"],
    [url("https://me:secret@node.example"), "--url has a user name or a password"],
    [url(`https://node.example/${"a".repeat(240)}`), "--url has 261 bytes, but the directory takes at most 256"],
    [[...NODE, "--rpc-url", "http://127.0.0.1:1"], "PUBLISHER_PRIVATE_KEY_FILE"],
  ];
  it.each(refused)("%j is told what to fix", async (args, message) => {
    const { code, stdout, stderr } = await announce(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("secret");
  });

  it("needs a network with a directory, and the provider's key", async () => {
    const without = write("44.json", { chainId: 44, datasets: {} });
    const { stderr } = await runProvider(["announce", "--deployment", without, ...NODE], { PROVIDER_PRIVATE_KEY });
    expect(stderr).toContain("Add the address of the directory of network 44.");
    expect((await runProvider(["announce", ...NODE], { PROVIDER_PRIVATE_KEY })).stderr).toContain(
      "Name the network: --rpc-url URL or --deployment FILE.",
    );
    expect((await announce(NODE, {})).stderr).toContain("PROVIDER_PRIVATE_KEY_FILE");
  });
});
