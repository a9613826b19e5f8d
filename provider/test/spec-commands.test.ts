import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { parseWebOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { decodeFunctionData, type Hex, hexToString, keccak256 } from "viem";
import { afterAll, describe, expect, test } from "vitest";
import { loadSpec } from "../src/cli/spec-file.js";
import { runCommand } from "./support/run-command.js";
import { startRegistry } from "./support/test-chain.js";

/** The well-known key of a development chain's first account. */
const PUBLISHER = { PUBLISHER_PRIVATE_KEY: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" };

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

const registry = await startRegistry();
afterAll(() => registry.close());

/** As the deployment names the datasets of keys with numbers. */
const NUMBERS = `0x${"22".repeat(20)}`;

const folder = mkdtempSync(join(tmpdir(), "web-oracle-"));
const file = write("spec.json", spec);

function write(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content, null, 2));
  return path;
}

describe("a command for specs is told what to fix:", () => {
  const NOWHERE = ["--rpc-url", "http://127.0.0.1:1"];
  const deployment = write("1.json", { chainId: 1, datasets: {}, webOracleRegistry: `0x${"11".repeat(20)}` });
  const publish = ["publish", file, "--deployment"] as const;
  const bad = write("bad.json", { ...spec, minSources: 0 });

  test.each<[args: Parameters<typeof runCommand>[0], problem: string]>([
    [["validate"], "Name the file of the spec"],
    [["validate", bad], "/minSources: must be at least 1"],
    [["key", file], "The spec has 1 variable: item. Give one argument for each, not 0."],
    [["publish", file], "--deployment FILE"],
    [[...publish, deployment, ...NOWHERE], ", or --from to an unlocked account of the endpoint."],
  ])("%j", async (args, problem) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(problem)]);
  });
});

describe("validate", () => {
  test("says what a valid spec is", async () => {
    const { code, stdout } = await runCommand(["validate", file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^valid: A value of two sources$/m);
    expect(stdout).toContain("uint, of the Web Oracle's number dataset");
    expect(stdout).toContain("a.prices.example, b.prices.example; 1 of 2 sources must answer");
    expect(stdout).toMatch(/WEB\/[0-9a-f]{64}\/<item>$/m);
  });

  test("shows a title of somebody else's without letting it control the terminal", async () => {
    const { stdout } = await runCommand(["validate", write("title.json", { ...spec, title: "a\u001b[2J\u202eb" })]);
    expect(stdout).toMatch(/^valid: a\\u\{1b\}\[2J\\u\{202e\}b$/m);
  });

  test("warns of a source whose numbers are not scaled like the unit", async () => {
    const unit = { symbol: "CHF", decimals: 2 };
    const warningsOf = async (change: object) => {
      const { stdout } = await runCommand(["validate", write("franc.json", { ...spec, unit, ...change })]);
      return stdout.match(/warning: .*/g);
    };
    expect(await warningsOf({})).toBeNull();
    expect(await warningsOf({ sources: [spec.sources[0], { ...spec.sources[1], decimals: 3 }] })).toEqual([
      "warning: /sources/1 has 3 decimals, and the unit 2: where it says 1, the value is 10 CHF. If that is wrong, " +
        "make the decimals equal.",
    ]);
  });
});

describe("validate and publish", () => {
  const deployment = write("7.json", { chainId: 7, datasets: {}, webOracleRegistry: `0x${"11".repeat(20)}` });
  const warningsOf = async (change: object) => {
    const sources = [{ ...spec.sources[0], ...change }];
    const path = write("secret.json", { ...spec, sources });
    const validated = await runCommand(["validate", path]);
    const published = await runCommand(["publish", path, "--deployment", deployment]);
    expect([validated.code, published.code]).toEqual([0, 0]);
    const found = validated.stdout.match(/warning: .*/g) ?? [];
    expect(published.stderr.match(/warning: .*/g) ?? []).toEqual(found);
    return found.map((warning) => /^warning: \/sources\/0: (\S+) looks like a secret/.exec(warning)?.[1]);
  };
  const url = "https://a.prices.example/{item}";

  test("warn of headers and parameters that look like secrets", async () => {
    const headers = { "x-api-key": "1", "private-token": "1", "x-rapidapi-key": "1", "x-plain": "Bearer abc" };
    expect(await warningsOf({ headers })).toEqual(Object.keys(headers));
    expect(await warningsOf({ headers: { "x-plain": "9b2e7c41d05f4a8ab1c3e6d7" } })).toEqual(["x-plain"]);
    expect(await warningsOf({ url: `${url}?appid=1&access_token=2&q=3` })).toEqual(["appid", "access_token"]);
  });

  test("do not warn of others", async () => {
    const headers = { accept: "application/vnd.github.v3+json", "user-agent": "a b/1.0", "x-version": "2026-01-01" };
    expect(await warningsOf({ headers, url: `${url}?key={item}&monkey=1&api_key=` })).toEqual([]);
  });
});

test("key prints the key in ASCII and in hex, however the file is laid out", async () => {
  const { stdout } = await runCommand(["key", file, "São Paulo"]);
  const [ascii = "", hex = ""] = stdout.split("\n");
  expect(ascii).toMatch(/^WEB\/[0-9a-f]{64}\/S%C3%A3o%20Paulo$/);
  expect(hexToString(hex as Hex)).toBe(ascii);
  expect(parseWebOracleKey(hex as Hex)).toMatchObject({ ok: true, value: { args: ["São Paulo"] } });
  const reversed = write("reversed.json", Object.fromEntries(Object.entries(spec).reverse()));
  expect((await runCommand(["key", reversed, "São Paulo"])).stdout).toBe(stdout);
});

describe("try", async () => {
  const api = await startLocalServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url?.startsWith("/a/")) return response.end('{"price":"12.345","note":"\\u001b[2J"}');
    return response.writeHead(503).end("\u001b[31mdown\u202e");
  });
  afterAll(() => api.close());

  /** Tries the spec with the configuration of a provider that asks the API of this test. */
  async function attempt(settings: object = {}, { tried = file, env = {} } = {}) {
    const redirected = (name: string) => [`https://${name}.prices.example`, `${api.url}/${name}`] as const;
    const redirectedOrigins = Object.fromEntries(["a", "b"].map(redirected));
    const webOracle = { rpcUrls: {}, folder: "specs", hosts: "any" };
    const base = { deployments: ["1.json"], lease: "lease", redirectedOrigins, webOracle };
    return runCommand(["try", tried, "tea", "--config", write("provider.json", { ...base, ...settings })], env);
  }

  test("shows each source's raw answer, the value that it yields, and what they come to", async () => {
    const { code, stdout } = await attempt();
    expect(code).toBe(0);
    expect(stdout).toContain("/sources/0: GET https://a.prices.example/tea");
    expect(stdout).toContain("value:  12.34  (0x");
    expect(stdout).toContain("value:  none: http_status: answered HTTP 503");
    expect(stdout).toMatch(/^value: 12\.34 {2}\(0x0{60}04d2\), from 1 of 2 sources$/m);
    // No answer can steer the terminal.
    for (const control of ["\u001b[2J", "\u001b[31mdown", "\u202e"]) expect(stdout).not.toContain(control);
    expect(stdout).toContain("\\u{1b}[31mdown\\u{202e}");
  });

  test("asks as a provider with a configuration does: its hosts and its secrets", async () => {
    const secrets = [{ host: "a.prices.example", header: "x-api-key", env: "A_KEY" }];
    const withHosts = (hosts: readonly string[], key: string) =>
      attempt({ secrets, webOracle: { rpcUrls: {}, folder: "specs", hosts } }, { env: { A_KEY: key } });
    const both = ["a.prices.example", "b.prices.example"];
    expect(await withHosts(both, "a-secret-of-its-own")).toMatchObject({ code: 0 });
    const refused = await withHosts(["a.prices.example"], "a-secret-of-its-own");
    expect(refused.stderr).toContain("b.prices.example is not in webOracle");
    expect((await withHosts(both, "")).stderr).toContain("the variable A_KEY");
  });

  test("ends with 1 when there is no value, and says why", async () => {
    const { code, stdout } = await attempt({}, { tried: write("both.json", { ...spec, minSources: 2 }) });
    expect([code, stdout]).toEqual([1, expect.stringContaining("none: 1 of 2 sources answered, fewer than 2")]);
  });
});

describe("publish", () => {
  const dataset = { address: NUMBERS, kind: "median", keyForm: "WEB_ORACLE", keys: [] };
  const deployment = write("42.json", { chainId: 42, datasets: { web: dataset }, webOracleRegistry: registry.address });

  const publish = (files: readonly string[], more: readonly string[] = ["--rpc-url", registry.rpc.url]) =>
    runCommand(["publish", ...files, "--deployment", deployment, ...more], PUBLISHER);

  test("sends one transaction for each spec, in their order, and none for one that is published", async () => {
    const { code, stdout, stderr } = await publish([file]);
    expect([code, stderr]).toEqual([0, ""]);
    const published = `Published ${loadSpec(file).hash} on network 42 in block `;
    expect(stdout).toMatch(new RegExp(`^${published}\\d+ \\(0x[0-9a-f]{64}\\)\\.$`, "m"));
    const [one = "", two = ""] = ["one", "two"].map((title) => write(`${title}.json`, { ...spec, title }));
    const already = `Already published: ${loadSpec(file).hash} on network 42; nothing was sent.`;
    const before = registry.rpc.calls.length;
    const lines = (await publish([one, file, two])).stdout.match(/^\S.*/gm);
    expect(lines).toEqual([expect.stringMatching(/^Published /), already, expect.stringMatching(/^Published /)]);
    expect(registry.rpc.calls.slice(before).filter(({ method }) => method === "eth_sendRawTransaction")).toHaveLength(
      2,
    );
  });

  test("prints each spec's keys, and the request for a value, whether or not it was sent", async () => {
    const key = `WEB/${loadSpec(file).hash.slice(2)}/<item>`;
    for (const more of [["--rpc-url", registry.rpc.url], []]) {
      const { stdout } = await publish([file], more);
      expect(stdout).toContain(`\n  key:   ${key}\n`);
      const [, body = ""] =
        /^ {2}next: {2}curl "\$\{OPERATOR_URL:-http:\/\/127\.0\.0\.1:8080\}\/data\/request" -H 'content-type: application\/json' -d '(.*)'$/m.exec(
          stdout,
        ) ?? [];
      expect(JSON.parse(body)).toEqual({ network_id: 42, dataset: NUMBERS, key, broadcast: true });
    }
  });

  test("prints the transaction where no endpoint is named", async () => {
    const before = registry.rpc.calls.length;
    const { code, stdout } = await publish([file], []);
    expect(code).toBe(0);
    const transaction = JSON.parse(/\{[\s\S]*?\n\}/.exec(stdout)?.[0] ?? "");
    expect(transaction).toMatchObject({ chainId: 42, to: registry.address });
    const { args } = decodeFunctionData({ abi: webOracleRegistryAbi, data: transaction.data });
    const { bytes, hash } = loadSpec(file);
    expect([args[0], keccak256(args[0] as Hex)]).toEqual([bytes, hash]);
    expect(stdout).toContain(`cast send ${registry.address} ${transaction.data} --account <keystore>`);
    expect(registry.rpc.calls.length).toBe(before);
  });

  test("refuses an endpoint of another chain, and one that fails, and never shows its URL", async () => {
    registry.rpc.fail("other_chain");
    const other = await publish([file]);
    registry.rpc.fail("error");
    const failed = await publish([file]);
    registry.rpc.fail("none");
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("The endpoint belongs to network 1")]);
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("The RPC endpoint failed or refused")]);
    expect(JSON.stringify([other, failed])).not.toContain("token-nobody-may-see");
  });
});
