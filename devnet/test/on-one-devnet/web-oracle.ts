import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import { simulateQuery } from "@dataset-oracle/protocol";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, type Hash, type Hex, stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { nextRound, type OneDevnet } from "../one-devnet.js";
import { postDataRequest } from "../post-data-request.js";

/** An account of the chain that the devnet does not use. */
const CALLER = deriveAccount(8).address;

/** Tests the Web Oracle's datasets with the devnet's example specs, whose keys nothing else uses. */
export function webOracleTests(one: () => OneDevnet): void {
  const examples = () => one().devnet.webOracle.examples;
  const example = (name: string) => {
    const found = examples().find((candidate) => candidate.name === name);
    if (!found) throw new Error(`There is no example ${name}.`);
    return found;
  };
  const query = async ({ dataset, keyHex }: { dataset: Address; keyHex: Hex }) => {
    const { output, updatedAt, status } = await simulateQuery(one().chain, { dataset, key: keyHex });
    return { output, updatedAt, status };
  };
  const post = (dataset: Address, key: string, broadcast = true) =>
    postDataRequest(one().devnet, { network_id: 42, dataset, key, broadcast });
  const operatorNonce = () =>
    one().chain.getTransactionCount({ address: one().devnet.operator.address, blockTag: "pending" });

  /** Reads a value from the simulated API, as 32 bytes. */
  async function expected(name: string): Promise<Hex> {
    const weather = `${one().devnet.market}/weather`;
    const now = async (city: string) => {
      const response = await fetch(`${weather}/now?city=${encodeURIComponent(city)}`);
      return (await response.json()) as { air: { kelvin: string }; sky: string; raining: boolean };
    };
    const number = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
    if (name === "temperature") return number(BigInt((await now("London")).air.kelvin.replace(".", "")));
    if (name === "sky") return stringToHex((await now("São Paulo")).sky, { size: 32 });
    if (name === "raining") return number((await now("London")).raining ? 1n : 0n);
    const response = await fetch(`${weather}/documents/find`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ archive: "storms", number: "7" }),
    });
    return ((await response.json()) as { document: { sha256: Hex } }).document.sha256;
  }

  test("a value of each type is stored by a POST, and read by query", async () => {
    expect(examples().map(({ name }) => name)).toEqual(["temperature", "sky", "raining", "document"]);
    for (const one of examples()) expect(await query(one)).toMatchObject({ updatedAt: 0n, status: "NOT_AVAILABLE" });
    const answers = await Promise.all(examples().map(({ dataset, key }) => post(dataset, key)));
    for (const [i, { name, key, keyHex, ...point }] of examples().entries()) {
      const { answer } = answers[i] as (typeof answers)[number];
      const value = await expected(name);
      expect(answer).toMatchObject({ status: "OK", key, key_hex: keyHex });
      expect(answer.value).toBe(name === "temperature" ? BigInt(value).toString() : value);
      const stored = { output: value, updatedAt: BigInt(answer.timestamp), status: "OK" };
      expect(await query({ ...point, keyHex })).toEqual(stored);
    }
  });

  // One of each dataset.
  describe.each(["temperature", "sky"])("the %s", (name) => {
    test("is updated once for concurrent requests in ASCII and in hex, and no other key changes", async () => {
      const { dataset, key, keyHex } = example(name);
      const others = examples().filter((other) => other.name !== name);
      const before = await Promise.all(others.map(query));
      const stored = await query({ dataset, keyHex });
      const nonce = await operatorNonce();
      await nextRound();
      const spellings = [key, keyHex, `0x${keyHex.slice(2).toUpperCase()}`];
      const answers = await Promise.all(spellings.map((spelling) => post(dataset, spelling)));
      expect(new Set(answers.map(({ answer }) => answer.transaction_hash)).size).toBe(1);
      expect(await operatorNonce()).toBe(nonce + 1);
      expect((await query({ dataset, keyHex })).updatedAt).toBeGreaterThan(stored.updatedAt);
      expect(await Promise.all(others.map(query))).toEqual(before);
    });

    test("is stored by the caller's own transaction, and the operator's nonce does not change", async () => {
      const { dataset, key, keyHex } = example(name);
      const { chain } = one();
      const nonce = await operatorNonce();
      await nextRound();
      const { status, answer } = await post(dataset, key, false);
      expect(status).toBe(200);
      const params = [{ from: CALLER, ...answer.transaction }];
      const hash = await chain.request<{ ReturnType: Hash }>({ method: "eth_sendTransaction", params } as never);
      expect((await chain.waitForTransactionReceipt({ hash })).status).toBe("success");
      const stored = { output: await expected(name), updatedAt: BigInt(answer.timestamp), status: "OK" };
      expect(await query({ dataset, keyHex })).toEqual(stored);
      expect(await operatorNonce()).toBe(nonce);
    });
  });

  test("a key that the providers do not serve is 422 with the reason, and nothing is sent", async () => {
    const { numbers, words } = one().devnet.webOracle;
    const { key } = example("temperature");
    const nonce = await operatorNonce();
    const refused = async (dataset: Address, refusedKey: string, code: string, detail = "") => {
      const { status, answer } = await post(dataset, refusedKey);
      expect([status, answer.code]).toEqual([422, code]);
      expect(answer.detail).toContain(detail);
    };
    await refused(numbers, `WEB/${"0".repeat(64)}`, "unknown_key", "request spec is published");
    await refused(words, key, "unknown_key", "other_kind");
    await refused(numbers, `${key}/London`, "unknown_key", "invalid_arguments");
    for (const other of ["SPOTPX/ETH-USD", "WEB/", `WEB/${"A".repeat(64)}`]) await refused(words, other, "invalid_key");
    expect(await operatorNonce()).toBe(nonce);
  });

  test("a dapp developer tries, publishes and asks for a spec of their own, one command each", async () => {
    const { devnet } = one();
    const program = join(ROOT, "provider", "dist", "main.js");
    const run = (...args: string[]) => promisify(execFile)(process.execPath, [program, ...args], { cwd: ROOT });
    const file = join(mkdtempSync(join(tmpdir(), "own-spec-")), "spec.json");
    const spec = JSON.parse(readFileSync(join(ROOT, "devnet/specs/temperature.json"), "utf8"));
    writeFileSync(file, JSON.stringify({ ...spec, title: "The temperature, my own way" }));
    expect((await run("validate", file)).stdout).toMatch(/^valid: The temperature, my own way$/m);
    const tried = await run("try", file, "Lima", "--config", join(devnet.folder, "config/provider-1.json"));
    const output =
      /^value: \d+\.\d\d K {2}\((0x[0-9a-f]{64})\), from 1 of 1 sources$/m.exec(tried.stdout)?.[1] ?? "0x0";
    const value = BigInt(output).toString();
    const [key = ""] = (await run("key", file, "Lima")).stdout.split("\n");
    const published = await run(
      ...["publish", file, "--deployment", join(devnet.folder, "deployments/42.json")],
      ...["--rpc-url", devnet.chain, "--from", CALLER],
    );
    expect(published.stdout).toContain(`Published 0x${key.slice(4, 68)} on network 42`);
    const { answer } = await post(devnet.webOracle.numbers, key);
    expect(answer).toMatchObject({ status: "OK", value });
  });

  test("the pages of the datasets have the devnet's addresses and the examples' specs", () => {
    const { devnet } = one();
    const { numbers, words } = devnet.webOracle;
    for (const [dataset, name] of [[numbers, "number"] as const, [words, "bytes"] as const]) {
      const page = readFileSync(join(ROOT, `docs/datasets/web-oracle-${name}.md`), "utf8");
      expect(page).toContain(`| devnet (id 42) | \`${dataset}\` |`);
      for (const { key } of examples().filter((example) => example.dataset === dataset)) {
        expect(page).toContain(`| \`${key.slice(0, "WEB/".length + 64)}/<`);
      }
    }
  });
}
