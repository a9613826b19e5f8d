import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { parseWebOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { decodeFunctionData, type Hex, hexToString, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSpec } from "../src/cli/spec-file.js";
import { startRegistry, type TestRegistry } from "./support/registry-on-anvil.js";

const CLI = fileURLToPath(new URL("../dist/main.js", import.meta.url));
/** The well-known key of a development chain's first account. */
const ANVIL_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

const spec = {
  title: "A value of two sources",
  variables: [{ name: "item", type: "string", characters: "unicode", minLength: 1, maxLength: 20 }],
  sources: ["a", "b"].map((name) => ({
    method: "GET",
    url: `https://${name}.prices.example/{item}`,
    path: "$.price",
    type: "uint",
    decimals: 2,
    rounding: "half-even",
  })),
  minSources: 1,
  combine: "median",
};

let folder: string;
let file: string;
let api: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "web-oracle-"));
  file = write("spec.json", spec);
  api = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url?.startsWith("/a/")) return response.end('{"price":"12.345","note":"\\u001b[2J"}');
    return response.writeHead(503).end("\u001b[31mdown\u202e");
  });
  await new Promise<void>((listening) => api.listen(0, "127.0.0.1", listening));
});

afterAll(() => {
  api.close();
});

function write(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content, null, 2));
  return path;
}

/** Runs a command and returns its output and exit code. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const options = { env: { PATH: process.env.PATH ?? "", ...env }, timeout: 25_000 };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [CLI, ...args], options);
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

/** Writes the configuration of a provider that asks the API of this test, or an address without a server. */
function writeConfig(changes: object = {}, address = `http://127.0.0.1:${(api.address() as AddressInfo).port}`) {
  const redirectedOrigins = Object.fromEntries(
    ["a", "b"].map((name) => [`https://${name}.prices.example`, `${address}/${name}`]),
  );
  const webOracle = { rpcUrls: {}, folder: "specs", hosts: "any" };
  return write("provider.json", { deployments: ["42.json"], lease: "lease", redirectedOrigins, webOracle, ...changes });
}

describe("the commands for specs", () => {
  it.each([
    [["validate"], "Name the file of the spec"],
    [["key"], "Name the file of the spec"],
    [["publish"], "Name the file of the spec"],
    [["validate", "/nowhere.json"], "/nowhere.json cannot be read: ENOENT"],
    [["key", "spec.json", "--json"], "Unknown option '--json'"],
    [["validate", "spec.json", "Lima"], "validate takes no arguments"],
    [["validate", "spec.json", "--colour"], "Unknown option '--colour'"],
  ])("%j is told what to fix", async (args, problem) => {
    const { code, stderr, stdout } = await run(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(problem);
    expect(stderr).not.toContain("    at ");
  });
});

describe("validate", () => {
  it("says what a valid spec is", async () => {
    const { code, stdout } = await run(["validate", file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^valid: A value of two sources$/m);
    expect(stdout).toContain("uint, of the Web Oracle's number dataset");
    expect(stdout).toContain("a.prices.example, b.prices.example; 1 of 2 sources must answer");
    expect(stdout).toMatch(/WEB\/[0-9a-f]{64}\/<item>$/m);
  });

  it("names each place to fix", async () => {
    const bad = write("bad.json", { ...spec, minSources: 0, sources: [{ ...spec.sources[0], type: "float" }] });
    const { code, stderr } = await run(["validate", bad]);
    expect(code).toBe(2);
    expect(stderr).toContain("/minSources: must be at least 1");
    expect(stderr).toContain("/sources/0/type: must be one of uint, bool, bytes32, string");
  });

  it("warns of a source whose numbers are not scaled like the unit", async () => {
    const unit = { symbol: "CHF", decimals: 2 };
    expect((await run(["validate", write("franc.json", { ...spec, unit })])).stdout).not.toContain("warning");
    const sources = [spec.sources[0], { ...spec.sources[1], decimals: 3 }];
    const { code, stdout } = await run(["validate", write("decifranc.json", { ...spec, unit, sources })]);
    expect(code).toBe(0);
    expect(stdout.match(/warning: .*/g)).toEqual([
      "warning: /sources/1 has 3 decimals, and the unit 2: where it says 1, the value is 10 CHF. If that is wrong, " +
        "make the decimals equal.",
    ]);
  });

  it.each(["validate", "try", "publish"])("%s refuses a spec with two values for one property", async (command) => {
    const twice = join(folder, "twice.json");
    writeFileSync(twice, JSON.stringify(spec).replace('"path":"$.price"', '"path":"$.a",$&'));
    const { code, stderr } = await run([command, twice]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("has a property twice in one object: look at line 1")]);
  });

  it("accepts the devnet's specs", () => {
    const specs = fileURLToPath(new URL("../../devnet/specs", import.meta.url));
    const types = readdirSync(specs).map((name) => loadSpec(join(specs, name)).compiled.type);
    expect(types.toSorted()).toEqual(["bool", "bytes32", "string", "uint"]);
  });
});

describe("key", () => {
  it("is printed in ASCII and in hex, however the file is laid out", async () => {
    const { stdout } = await run(["key", file, "São Paulo"]);
    const [ascii = "", hex = ""] = stdout.split("\n");
    expect(ascii).toMatch(/^WEB\/[0-9a-f]{64}\/S%C3%A3o%20Paulo$/);
    expect(hexToString(hex as Hex)).toBe(ascii);
    const reversed = Object.fromEntries(Object.entries(spec).reverse());
    expect((await run(["key", write("reversed.json", reversed), "São Paulo"])).stdout).toBe(stdout);
    expect(parseWebOracleKey(hex as Hex)).toMatchObject({ ok: true, value: { args: ["São Paulo"] } });
  });

  it.each([
    [[], "The spec has 1 variable: item. Give one argument for each, not 0."],
    [[""], "The argument item has 0 characters, but must have 1 to 20"],
  ])("with the arguments %j is told what to fix", async (args, problem) => {
    const { code, stderr } = await run(["key", file, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });
});

describe("try", () => {
  it("shows each source's raw answer, the value that it yields, and what they come to", async () => {
    const { code, stdout } = await run(["try", file, "tea", "--config", writeConfig()]);
    expect(code).toBe(0);
    expect(stdout).toContain("/sources/0: GET https://a.prices.example/tea");
    expect(stdout).toContain('{"price":"12.345"');
    expect(stdout).toContain("value:  12.34  (0x");
    expect(stdout).toContain("/sources/1: GET https://b.prices.example/tea");
    expect(stdout).toContain("answer: HTTP 503 application/json");
    expect(stdout).toContain("value:  none: http_status: answered HTTP 503");
    expect(stdout).toMatch(/^value: 12\.34 {2}\(0x0{60}04d2\), from 1 of 2 sources$/m);
  });

  it("lets no answer steer the terminal, and prints no colours without a terminal", async () => {
    const { stdout } = await run(["try", file, "tea", "--config", writeConfig()]);
    for (const control of ["\u001b", "\u202e"]) expect(stdout).not.toContain(control);
    expect(stdout).toContain("\\u{1b}[31mdown\\u{202e}");
  });

  it("asks as a provider with a configuration does: its hosts and its secrets", async () => {
    const secrets = [{ host: "a.prices.example", header: "x-api-key", env: "A_KEY" }];
    const withHosts = (hosts: readonly string[]) => {
      const config = writeConfig({ secrets, webOracle: { rpcUrls: {}, folder: "specs", hosts } });
      return run(["try", file, "tea", "--config", config], env);
    };
    const env = { A_KEY: "a-secret-of-its-own" };
    const { code, stdout } = await withHosts(["a.prices.example", "b.prices.example"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^value: 12\.34 {2}\(0x/m);
    const refused = await withHosts(["a.prices.example"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("b.prices.example is not in webOracle/hosts");
    env.A_KEY = "";
    expect((await withHosts(["a.prices.example", "b.prices.example"])).stderr).toContain("the variable A_KEY");
  });

  it("ends with 1 when there is no value", async () => {
    const both = write("both.json", { ...spec, minSources: 2 });
    const { code, stdout } = await run(["try", both, "tea", "--config", writeConfig()]);
    expect(code).toBe(1);
    expect(stdout).toContain("value: none: 1 of 2 sources answered, fewer than 2");
  });

  it("says that nothing answers", async () => {
    const { stdout } = await run(["try", file, "tea", "--config", writeConfig({}, "http://127.0.0.1:2")]);
    expect(stdout).toContain("value:  none: unreachable: ECONNREFUSED");
  });
});

describe("publish", () => {
  let registry: TestRegistry;
  let deployment: string;

  beforeAll(async () => {
    registry = await startRegistry();
    deployment = write("42.json", { chainId: 42, datasets: {}, webOracleRegistry: registry.address });
  });
  afterAll(() => registry?.close());

  const publish = (more: readonly string[], env = {}) =>
    run(["publish", file, "--deployment", deployment, ...more], env);
  const hashOf = async () => `0x${(await run(["key", file, "a"])).stdout.slice(4, 68)}`;

  it("signs with a key of the environment, and sends the transaction", async () => {
    const env = { PUBLISHER_PRIVATE_KEY: ANVIL_KEY };
    const { code, stdout, stderr } = await publish(["--rpc-url", registry.rpc.url], env);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Published 0x[0-9a-f]{64} on network 42 in block \d+ \(0x[0-9a-f]{64}\)\.$/m);
    expect(stdout).toContain(await hashOf());
  });

  it("sends nothing for a spec that is published already", async () => {
    const env = { PUBLISHER_PRIVATE_KEY: ANVIL_KEY };
    const before = registry.rpc.calls.length;
    const { code, stdout, stderr } = await publish(["--rpc-url", registry.rpc.url], env);
    expect([code, stdout, stderr]).toEqual([
      0,
      `Already published: ${await hashOf()} on network 42; nothing was sent.\n`,
      "",
    ]);
    expect(registry.rpc.calls.slice(before)).not.toContain("eth_sendRawTransaction");
  });

  it("prints the transaction where no endpoint is named", async () => {
    const before = registry.rpc.calls.length;
    const { code, stdout } = await publish([]);
    expect(code).toBe(0);
    const transaction = JSON.parse(/\{[\s\S]*?\n\}/.exec(stdout)?.[0] ?? "");
    expect(transaction).toMatchObject({ chainId: 42, to: registry.address, value: "0x0" });
    const { args } = decodeFunctionData({ abi: webOracleRegistryAbi, data: transaction.data });
    expect(keccak256(args[0] as Hex)).toBe(await hashOf());
    expect(stdout).toContain(`cast send ${registry.address} ${transaction.data} --rpc-url <url> --account <keystore>`);
    expect(registry.rpc.calls.length).toBe(before);
  });

  it("refuses an endpoint of another network, or in trouble, and never shows its URL", async () => {
    const env = { PUBLISHER_PRIVATE_KEY: ANVIL_KEY };
    registry.rpc.fail("other_chain");
    const other = await publish(["--rpc-url", registry.rpc.url], env);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("The endpoint belongs to network 1")]);
    registry.rpc.fail("error");
    const down = await publish(["--rpc-url", registry.rpc.url], env);
    expect([down.code, down.stderr]).toEqual([
      2,
      expect.stringContaining("The RPC endpoint failed or refused the call"),
    ]);
    registry.rpc.fail("none");
    for (const { stdout, stderr } of [other, down]) expect(stdout + stderr).not.toContain("t0ken");
  });

  it.each([
    [["--rpc-url", "http://127.0.0.1:1"], "PUBLISHER_PRIVATE_KEY_FILE"],
    [["--rpc-url", "http://127.0.0.1:1"], ", or --from to an unlocked account of the endpoint."],
    [["--rpc-url", "http://127.0.0.1:1", "--from", "0x12"], "--from"],
  ])("with %j is told what to fix", async (more, problem) => {
    const { code, stderr } = await publish(more);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });

  it("names an account that is not unlocked", async () => {
    const from = "0x000000000000000000000000000000000000dEaD";
    const other = write("other.json", { ...spec, title: "Another" });
    const { code, stderr } = await run(
      ["publish", other, "--deployment", deployment, "--rpc-url", registry.rpc.url, "--from", from],
      {},
    );
    expect([code, stderr]).toEqual([
      2,
      `--from: ${from} is not an unlocked account of the endpoint. Name one that is.\n`,
    ]);
  });

  it("needs a network with a registry", async () => {
    const without = write("43.json", { chainId: 43, datasets: {} });
    const { stderr } = await run(["publish", file, "--deployment", without]);
    expect(stderr).toContain("Add the address of the registry of network 43.");
    expect((await run(["publish", file])).stderr).toContain("--deployment FILE");
  });

  it("publishes several specs, one transaction each, in their order", async () => {
    const others = ["one", "two"].map((title) => write(`${title}.json`, { ...spec, title }));
    const [one = "", two = ""] = others;
    const env = { PUBLISHER_PRIVATE_KEY: ANVIL_KEY };
    const { stdout } = await run(
      ["publish", one, file, two, "--deployment", deployment, "--rpc-url", registry.rpc.url],
      env,
    );
    const lines = stdout.trim().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^Published /),
      `Already published: ${await hashOf()} on network 42; nothing was sent.`,
      expect.stringMatching(/^Published /),
    ]);
    const sent = lines.filter((line) => line.startsWith("Published"));
    expect(new Set(sent.map((line) => /\((0x[0-9a-f]{64})\)\.$/.exec(line)?.[1] ?? "")).size).toBe(2);
  });

  it("publishes the canonical bytes, whatever the file looks like", async () => {
    const { stdout } = await publish([]);
    const { data } = JSON.parse(/\{[\s\S]*?\n\}/.exec(stdout)?.[0] ?? "");
    const { args } = decodeFunctionData({ abi: webOracleRegistryAbi, data });
    expect(args[0]).toBe(stringToHex(JSON.stringify(sorted(spec))));
  });
});

/** The value with the names of its objects in order: canonical, for there are no numbers but small integers. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
