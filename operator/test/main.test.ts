import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { type Address, getAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { loadOperatorConfig } from "../src/config.js";
import { type Chain, OWNER, startChain } from "./support/chain.js";
import { spawnOperator } from "./support/spawn-operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

const KEY = generatePrivateKey();

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let folder: string;

async function run(args: string[], env: Record<string, string> = {}) {
  const { exited, output } = spawnOperator(args, env, 60_000);
  return { code: await exited, output: output() };
}

function writeConfig(change: object = {}, network: { feeds?: object[]; [setting: string]: unknown } = {}): string {
  const { feeds = [], ...others } = network;
  const policy = { dataset, heartbeatSeconds: 60, deviationBps: 50, minIntervalSeconds: 10 };
  const settings = {
    deployment: "42.json",
    rpcUrls: [chain.url],
    providers: providers.map(({ address, url }) => ({ address, url })),
    feeds: feeds.map((feed) => ({ ...policy, ...feed })),
    ...others,
  };
  const path = join(folder, "operator.json");
  writeFileSync(path, JSON.stringify({ networks: [settings], ...change }));
  return path;
}

function writeDeployment(chainId: number, change: object = {}, name = String(chainId)): void {
  const financial = { address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: ["SPOTPX/ETH-USD"], ...change };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ chainId, datasets: { financial } }));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "operator-"));
  [chain, providers] = await Promise.all([startChain(), startProviders(1)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  writeDeployment(42);
  writeDeployment(43);
});

describe("operator --check-config", () => {
  const check = (path: string, env?: Record<string, string>) => run(["--config", path, "--check-config"], env);

  test("exits with 0 for a valid configuration", async () => {
    const { code, output } = await check(writeConfig(), { OPERATOR_PRIVATE_KEY: KEY });
    expect([code, output]).toEqual([0, expect.stringContaining("is valid. Networks: 42.")]);
    expect(output).toContain(`Senders on network 42: ${privateKeyToAccount(KEY).address}.`);
  });

  test("warns of feeds on a network without a sender", async () => {
    const { code, output } = await check(writeConfig({}, { feeds: [{ keys: ["SPOTPX/ETH-USD"] }] }));
    expect([code, output]).toEqual([0, expect.stringContaining("network 42: its feeds are not sent")]);
    expect(output).toContain("Senders on network 42: none, so nothing is broadcast.");
  });

  test("reads the key of one network from a keystore made by cast", async () => {
    const args = ["wallet", "new", folder, "keystore", "--unsafe-password", "a password of two words"];
    execFileSync(foundryBinary("cast"), args);
    const env = {
      OPERATOR_KEYSTORE_42: join(folder, "keystore"),
      OPERATOR_KEYSTORE_42_PASSWORD: "a password of two words",
    };
    const { code, output } = await check(writeConfig(), env);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining("The file that OPERATOR_KEYSTORE_42 names can be read"),
    ]);
    const wrong = await check(writeConfig(), { ...env, OPERATOR_KEYSTORE_42_PASSWORD: "another" });
    expect(wrong).toEqual({
      code: 2,
      output: "The file that OPERATOR_KEYSTORE_42 names does not open with this password. Correct the password.\n",
    });
  });

  test("reads the RPC's token from the environment", async () => {
    const path = writeConfig({}, { rpcUrls: [["https://rpc.example/$", "{RPC_TOKEN}"].join("")] });
    expect((await check(path, { RPC_TOKEN: "abc" })).code).toBe(0);
    const { code, output } = await check(path);
    expect([code, output]).toEqual([2, expect.stringContaining("RPC_TOKEN")]);
  });

  test.each([
    ["a setting that it does not know", { hots: "x" }, {}, "/hots"],
    ["a setting of another type", { port: "8080" }, {}, "/port"],
    ["a proxy that is not an address", { trustedProxies: ["localhost"] }, {}, "/trustedProxies/0"],
    ["no network", { networks: [] }, {}, "/networks"],
    ["a deployment that is not there", {}, { deployment: "44.json" }, "44.json"],
    ["an RPC that is not a URL", {}, { rpcUrls: ["http://127.0.0.1", "127.0.0.1"] }, "rpcUrls/1 is not a URL"],
    ["an RPC with a user name", {}, { rpcUrls: ["http://me:secret-word@127.0.0.1"] }, "rpcUrls/0 contains a user name"],
    ["a network without an RPC", {}, { rpcUrls: [] }, "rpcUrls is empty"],
    ["a provider with a wrong address", {}, { providers: [{ address: "0x1", url: "http://a" }] }, "0x1"],
    [
      "a provider whose URL has an impossible port",
      {},
      { providers: [{ address: `0x${"11".repeat(20)}`, url: "http://a:99999" }] },
      "url",
    ],
    ["a port that browsers do not connect to", { port: 10_080 }, {}, "port 10080"],
    ["a feed without keys", {}, { feeds: [{ keys: [] }] }, "feeds/0: keys is empty"],
    ["a provider without a URL", {}, { providers: [{ address: `0x${"11".repeat(20)}`, url: "a" }] }, "url"],
  ])("names %s", async (_, change, network, named) => {
    const error = await loadOperatorConfig(writeConfig(change, network), {}).catch((reason) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain(named);
    expect(error.message).not.toContain("secret-word");
  });

  test("ends with 2 for an invalid configuration, and prints no stack", async () => {
    const { code, output } = await check(writeConfig({ hots: "x" }));
    expect([code, output]).toEqual([2, expect.stringContaining("/hots")]);
    expect(output).not.toMatch(/^ {4}at /m);
  });

  test("refuses an invalid private key, and does not show it", async () => {
    const { code, output } = await check(writeConfig(), { OPERATOR_PRIVATE_KEY_42: `${KEY}00` });
    expect([code, output]).toEqual([2, expect.stringContaining("OPERATOR_PRIVATE_KEY_42")]);
    expect(output).not.toContain(KEY.slice(2, 20));
  });
});

test("operator --help exits with 0, an unknown option with 2", async () => {
  expect(await run(["--help"])).toMatchObject({ code: 0, output: expect.stringContaining("--check-config") });
  expect((await run(["--confg", "x"])).code).toBe(2);
  expect((await run([])).code).toBe(2);
});

test("startup fails when an RPC is of another chain", async () => {
  const { code, output } = await run(["--config", writeConfig({ port: 0 }, { deployment: "43.json" })]);
  expect([code, output]).toEqual([
    2,
    expect.stringContaining("network 43: rpcUrls/0 belongs to network 42. Correct it, or set deployment"),
  ]);
});

test("startup fails when an address is not a dataset, and names it", async () => {
  const nobody = privateKeyToAccount(generatePrivateKey()).address;
  const { contractAddress } = await deployOther();
  for (const [address, reason] of [
    [nobody, "is not a contract"],
    [contractAddress, "is another contract"],
  ]) {
    writeDeployment(42, { address }, "other");
    const { code, output } = await run(["--config", writeConfig({ port: 0 }, { deployment: "other.json" })]);
    expect([code, output]).toEqual([2, expect.stringContaining(`dataset ${address}`)]);
    expect(output).toContain(reason);
    expect(output).toContain("Correct its address in the deployment file");
  }
});

test.each([
  ["kind", { kind: "majority" }, "is median, but the deployment file says majority. Correct the file."],
  [
    "keyForm",
    { keyForm: "WEB_ORACLE", keys: [] },
    "is SPOT_PRICE, but the deployment file says WEB_ORACLE. Correct the file.",
  ],
])("startup fails when the deployment file has another %s than the dataset", async (name, change, difference) => {
  writeDeployment(42, change, "other");
  const { code, output } = await run(["--config", writeConfig({ port: 0 }, { deployment: "other.json" })]);
  expect([code, output]).toEqual([
    2,
    expect.stringContaining(`network 42: the ${name} of dataset ${dataset} ${difference}`),
  ]);
});

/** Deploys a contract that answers every call with nothing. */
async function deployOther() {
  // Returns one byte of code, STOP.
  const hash = await chain.client.sendTransaction({ account: OWNER, data: "0x60015ff3", gas: 100_000n });
  const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash });
  return { contractAddress: getAddress(contractAddress ?? "0x") };
}

test("a process whose RPC does not answer listens, says so without the RPC's token, and exits cleanly", async () => {
  const rpcUrls = [`http://127.0.0.1:${await freePort()}/secret-token`];
  const port = await freePort();
  const { child, exited, output } = spawnOperator(["--config", writeConfig({ port }, { rpcUrls })]);
  const ready = () => fetch(`http://127.0.0.1:${port}/ready`).then((answer) => answer.text(), output);
  await expect.poll(ready, { timeout: 60_000 }).toContain('"missing":"The RPC of network 42 failed."');
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(output()).toContain("this network is not served");
  expect(output()).not.toContain("secret-token");
});

test("a real process serves a request, logs no secret, and exits cleanly", async () => {
  await chain.fund(privateKeyToAccount(KEY).address);
  const port = await freePort();
  const { child, exited, output } = spawnOperator(["--config", writeConfig({ port })], { OPERATOR_PRIVATE_KEY: KEY });
  const base = `http://127.0.0.1:${port}`;
  const until = Date.now() + 60_000;
  const isUp = () =>
    fetch(`${base}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    if (Date.now() > until) throw new Error(`The operator did not start:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const response = await fetch(`${base}/data/request`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=10" },
    body: JSON.stringify({ network_id: 42, dataset, key: "SPOTPX/ETH-USD", broadcast: true }),
  });
  expect(response.status).toBe(200);
  expect((await chain.query(dataset, "SPOTPX/ETH-USD")).status).toBe("OK");

  const started = Date.now();
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(Date.now() - started).toBeLessThan(5_000);
  const log = output();
  expect(log).toMatch(/signatures are checked and made by (?:secp256k1 \(native\)|tiny-secp256k1 \(WebAssembly\))/);
  expect(log).toContain("update sent");
  expect(log).not.toContain(KEY.slice(2));
  for (const line of log.trimEnd().split("\n")) JSON.parse(line);
});
