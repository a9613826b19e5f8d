import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { oracleAbi } from "@dataset-oracle/protocol/abi/oracle";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, createTestClient, type Hex, http, publicActions, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Devnet, freePortOptions, startDevnet, withPortsOf } from "./devnet-process.js";
import { HAS_CURL } from "./has-curl.js";
import { postDataRequest } from "./post-data-request.js";

/** An account of the chain that the devnet does not use. */
const CALLER: Address = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f";
const CLI = join(ROOT, "provider", "dist", "main.js");

let devnet: Devnet;
let chain: ReturnType<typeof connect>;
let ports: string[];

const connect = (url: string) => createTestClient({ mode: "anvil", transport: http(url) }).extend(publicActions);

beforeAll(async () => {
  ports = [...(await freePortOptions()), "--no-feeds"];
  devnet = await startDevnet(ports);
  chain = connect(devnet.chain);
}, 130_000);

afterAll(() => devnet?.interrupt());

const port = (option: string) => ports[ports.indexOf(option) + 1];
const deploymentFile = () => join(".devnet", String(port("--chain-port")), "deployments", "42.json");
const providerConfig = () => join(".devnet", String(port("--chain-port")), "config", "provider-1.json");
const weather = () => `http://127.0.0.1:${port("--market-port")}/weather`;

async function query(dataset: Address, key: Hex) {
  const { result } = await chain.simulateContract({
    address: dataset,
    abi: oracleAbi,
    functionName: "query",
    args: [key],
    value: BigInt(devnet.queryPrice),
    account: CALLER,
  });
  const [output, updatedAt, status] = result;
  return { output, updatedAt, status: QUERY_STATUSES[status] };
}

const request = (dataset: Address, key: string, broadcast = true) => ({ network_id: 42, dataset, key, broadcast });

const operatorNonce = () => chain.getTransactionCount({ address: devnet.operator.address, blockTag: "pending" });

/** A request after this time is of another round, because rounds are whole seconds. */
const nextRound = () => sleep(1_100);

const example = (name: string) => {
  const found = devnet.webOracle.examples.find((one) => one.name === name);
  if (!found) throw new Error(`There is no example ${name}.`);
  return found;
};

/** Reads a value from the simulated API, as 32 bytes. */
async function expected(name: string): Promise<Hex> {
  const now = async (city: string) => {
    const response = await fetch(`${weather()}/now?city=${encodeURIComponent(city)}`);
    return (await response.json()) as { air: { kelvin: string }; sky: string; raining: boolean };
  };
  const number = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
  if (name === "temperature") return number(BigInt((await now("London")).air.kelvin.replace(".", "")));
  if (name === "sky") return stringToHex((await now("São Paulo")).sky, { size: 32 });
  if (name === "raining") return number((await now("London")).raining ? 1n : 0n);
  const response = await fetch(`${weather()}/documents/find`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ archive: "storms", number: "7" }),
  });
  return ((await response.json()) as { document: { sha256: Hex } }).document.sha256;
}

describe.each(["temperature", "sky", "raining", "document"])("the %s", (name) => {
  test("is stored on chain by a POST, in ASCII and in hex, and read by query", async () => {
    const { dataset, key, keyHex } = example(name);
    expect(await query(dataset, keyHex)).toMatchObject({ updatedAt: 0n, status: "NOT_AVAILABLE" });
    const first = await postDataRequest(devnet, request(dataset, key));
    expect(first.answer).toMatchObject({ status: "OK", key, key_hex: keyHex });
    const value = await expected(name);
    const afterFirst = await query(dataset, keyHex);
    expect(afterFirst).toEqual({ output: value, updatedAt: BigInt(first.answer.timestamp), status: "OK" });
    expect(first.answer.value).toBe(name === "temperature" ? BigInt(value).toString() : value);

    await nextRound();
    const second = await postDataRequest(devnet, request(dataset, `0x${keyHex.slice(2).toUpperCase()}`));
    expect(second.answer).toMatchObject({ status: "OK", key });
    expect((await query(dataset, keyHex)).updatedAt).toBe(BigInt(second.answer.timestamp));
    expect(second.answer.timestamp).toBeGreaterThan(first.answer.timestamp);
    // On a busy machine, a provider's report can come too late for one of them.
    expect(Math.max(first.answer.reports.length, second.answer.reports.length)).toBe(4);
  });

  test("is stored on chain by the caller's own transaction, and the operator's nonce does not change", async () => {
    const { dataset, key, keyHex } = example(name);
    await nextRound();
    const nonce = await operatorNonce();
    const { status, answer } = await postDataRequest(devnet, request(dataset, key, false));
    expect(status).toBe(200);
    const hash = await chain.request({
      method: "eth_sendTransaction",
      params: [{ from: CALLER, ...answer.transaction }],
    } as never);
    expect((await chain.waitForTransactionReceipt({ hash, pollingInterval: 100 })).status).toBe("success");
    expect(await query(dataset, keyHex)).toEqual({
      output: await expected(name),
      updatedAt: BigInt(answer.timestamp),
      status: "OK",
    });
    expect(await operatorNonce()).toBe(nonce);
  });

  test("is updated once for two concurrent requests, and no other key changes", async () => {
    const { dataset, key, keyHex } = example(name);
    const others = devnet.webOracle.examples.filter((other) => other.name !== name);
    const before = await Promise.all(others.map((other) => query(other.dataset, other.keyHex)));
    await nextRound();
    const nonce = await operatorNonce();
    await sleep(1_000 - (Date.now() % 1_000) + 50);
    const answers = await Promise.all(
      [key, keyHex].map((spelling) => postDataRequest(devnet, request(dataset, spelling))),
    );
    expect(new Set(answers.map(({ answer }) => answer.transaction_hash)).size).toBe(1);
    expect(await operatorNonce()).toBe(nonce + 1);
    expect(await Promise.all(others.map((other) => query(other.dataset, other.keyHex)))).toEqual(before);
  });
});

describe("a key that the providers do not serve", () => {
  const refused = async (dataset: Address, key: string) => {
    const nonce = await operatorNonce();
    const { status, answer } = await postDataRequest(devnet, request(dataset, key));
    expect(await operatorNonce()).toBe(nonce);
    return { status, code: answer.code, detail: answer.detail };
  };

  test("because its spec is not published is 422, and says how to fix it", async () => {
    const key = `WEB/${"0".repeat(64)}`;
    const problem = await refused(devnet.webOracle.numbers, key);
    expect(problem).toMatchObject({ status: 422, code: "unknown_key" });
    expect(problem.detail).toContain("request spec is published");
  });

  test("because it belongs to the other dataset, or has other arguments, is 422", async () => {
    const { key } = example("temperature");
    expect(await refused(devnet.webOracle.words, key)).toMatchObject({
      status: 422,
      code: "unknown_key",
      detail: expect.stringContaining("other_kind"),
    });
    expect(await refused(devnet.webOracle.numbers, `${key}/London`)).toMatchObject({
      status: 422,
      detail: expect.stringContaining("invalid_arguments"),
    });
  });

  test("because it is of another form is 422", async () => {
    for (const key of ["SPOTPX/ETH-USD", "WEB/", `WEB/${"A".repeat(64)}`]) {
      expect(await refused(devnet.webOracle.words, key)).toMatchObject({ status: 422, code: "invalid_key" });
    }
  });
});

describe("a dapp developer", () => {
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [CLI, ...args], { cwd: ROOT });

  test("tries, publishes and asks for a spec of their own, one command each", async () => {
    const folder = mkdtempSync(join(tmpdir(), "own-spec-"));
    const file = join(folder, "spec.json");
    const spec = JSON.parse(readFileSync(join(ROOT, "devnet/specs/temperature.json"), "utf8"));
    writeFileSync(file, JSON.stringify({ ...spec, title: "The temperature, my own way" }));
    expect((await run("validate", file)).stdout).toMatch(/^valid: The temperature, my own way$/m);
    const tried = await run("try", file, "Lima", "--config", providerConfig());
    const output =
      /^value: \d+\.\d\d K {2}\((0x[0-9a-f]{64})\), from 1 of 1 sources$/m.exec(tried.stdout)?.[1] ?? "0x0";
    const value = BigInt(output).toString();
    const [key = "", keyHex = ""] = (await run("key", file, "Lima")).stdout.split("\n");
    const published = await run(
      ...["publish", file, "--deployment", deploymentFile()],
      ...["--rpc-url", devnet.chain, "--from", CALLER],
    );
    expect(published.stdout).toContain(`Published 0x${key.slice(4, 68)} on network 42`);
    const { answer } = await postDataRequest(devnet, request(devnet.webOracle.numbers, key));
    expect(answer).toMatchObject({ status: "OK", value });
    expect(BigInt((await query(devnet.webOracle.numbers, keyHex as Hex)).output)).toBe(BigInt(value));
  });

  test("can paste the guide's commands", async () => {
    const guide = readFileSync(join(ROOT, "docs/WebOracle.md"), "utf8");
    const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)];
    const commands = blocks.flatMap(([, block]) => block?.trim().split("\n") ?? []);
    const printed: string[] = [];
    for (const command of commands) {
      const line = withPortsOf(devnet, command);
      printed.push((await promisify(execFile)("sh", ["-c", line], { cwd: ROOT, timeout: 30_000 })).stdout);
    }
    expect(printed).toEqual([
      expect.stringMatching(/^valid: /),
      expect.stringMatching(/^value: \d+\.\d\d K {2}\(0x/m),
      // The devnet publishes its examples when it starts.
      expect.stringMatching(/^Already published: 0x[0-9a-f]{64} on network 42; nothing was sent\.$/m),
      expect.stringContaining(`${example("temperature").key}\n${example("temperature").keyHex}\n`),
    ]);
  });

  test.runIf(HAS_CURL)("can paste the commands that the devnet prints", async () => {
    const lines = devnet.output().split("\n");
    const printed = (title: string) => lines[lines.findIndex((line) => line.includes(`# ${title}`)) + 1]?.trim() ?? "";
    const paste = async (command: string) => {
      const line = command.replace(/^npx cast/, `"${foundryBinary("cast")}"`);
      return (await promisify(execFile)("sh", ["-c", line], { cwd: ROOT, timeout: 30_000 })).stdout;
    };
    await nextRound();
    const answer = JSON.parse(await paste(printed("Request a fresh Web Oracle value")));
    expect(answer).toMatchObject({ status: "OK", key: example("temperature").key });
    const [value, , status] = (await paste(printed("Read it: kelvin × 10^2"))).split("\n");
    expect([value?.split(" ")[0], status]).toEqual([answer.value, "1"]);
    expect(await paste(printed("Publish a request spec"))).toMatch(/^Published 0x[0-9a-f]{64} on network 42/);
  });
});

test("GET /datasets lists both datasets, and the devnet's summary names their keys", async () => {
  const served = (await (await fetch(`${devnet.operator.url}/datasets`)).json()) as {
    dataset: Address;
    kind: string;
  }[];
  const kinds = new Map(served.map(({ dataset, kind }) => [dataset, kind]));
  expect(kinds.get(devnet.webOracle.numbers)).toBe("median");
  expect(kinds.get(devnet.webOracle.words)).toBe("majority");
  for (const { key } of devnet.webOracle.examples) expect(devnet.output()).toContain(key);
  const { numbers, words, registry } = devnet.webOracle;
  for (const address of [numbers, words, registry]) expect(devnet.output()).toContain(address);
  for (const { dataset, key } of devnet.webOracle.examples) {
    const name = dataset === devnet.webOracle.numbers ? "number" : "bytes";
    const own = readFileSync(join(ROOT, `docs/datasets/web-oracle-${name}.md`), "utf8");
    expect(own).toContain(`| devnet (id 42) | \`${dataset}\` |`);
    expect(own).toContain(`| \`${key.slice(0, "WEB/".length + 64)}/<`);
  }
});
