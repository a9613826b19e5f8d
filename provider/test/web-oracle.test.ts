import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { recoverReporter, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { type Address, type Hex, hexToString, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { ProviderConfig } from "../src/config.js";
import { replay } from "../src/evidence/replay.js";
import type { Hosts } from "../src/web-oracle/check-settings.js";
import { runProvider } from "./process.js";
import { ACCOUNT, reportOf, startProvider, wireValue } from "./provider.js";
import { startRegistry, type TestRegistry } from "./support/registry.js";

const NUMBERS: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const WORDS: Address = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const HOST = "api.weather.example";

const city = { name: "city", type: "string", characters: "unicode", minLength: 1, maxLength: 40 };
const number = { method: "GET", type: "uint", decimals: 2, rounding: "half-even" };
/** Each test has a title of its own, so that its spec is published for it alone. */
const spec = (title: string, change: object = {}) => ({
  title,
  variables: [city],
  sources: [{ ...number, url: `https://${HOST}/now?q={city}`, path: "$.celsius" }],
  minSources: 1,
  combine: "median",
  ...change,
});
const word = (title: string, source: object) =>
  spec(title, {
    variables: [],
    sources: [{ method: "GET", url: `https://${HOST}/facts`, ...source }],
    combine: "majority",
  });

let registry: TestRegistry;
let api: Server;
let folder: string;
const asked: string[] = [];

beforeAll(async () => {
  registry = await startRegistry();
  api = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://api");
    asked.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    const city = url.searchParams.get("q") ?? "";
    if (url.pathname === "/facts") {
      return response.end(`{"text":"rain","flag":false,"hash":"0x${"ab".repeat(32)}","long":"${"long ".repeat(20)}"}`);
    }
    return response.end(`{"celsius": ${city === "São Paulo" ? "21.505" : "3.5e1"}}`);
  });
  await new Promise<void>((listening) => api.listen(0, "127.0.0.1", listening));
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "specs-"));
  registry.rpc.fail("none");
  return () => rmSync(folder, { recursive: true });
});

afterAll(async () => {
  await registry?.close();
  api?.close();
});

const redirectedOrigins = () => ({ [`https://${HOST}`]: `http://127.0.0.1:${(api.address() as AddressInfo).port}` });

async function start({
  hosts = [HOST] as Hosts,
  evidence = null as ProviderConfig["evidence"],
  trustedProxies = [] as string[],
} = {}) {
  const dataset = { name: "web", keyForm: "WEB_ORACLE" as const, keys: [] };
  const provider = await startProvider(
    { redirectedOrigins: redirectedOrigins(), evidence, trustedProxies },
    {
      deployments: [
        {
          chainId: 42,
          webOracleRegistry: registry.address,
          datasets: [
            { ...dataset, address: NUMBERS, kind: "median" },
            { ...dataset, address: WORDS, kind: "majority" },
          ],
        },
      ],
      webOracle: {
        registries: [{ chainId: 42, address: registry.address, rpcUrl: registry.rpc.url }],
        folder,
        hosts,
        rateLimitOf: () => ({ perSecond: 100, burst: 100 }),
      },
    },
  );
  onTestFinished(() => provider.close());
  return provider;
}

const key = (specHash: Hex, ...args: string[]): Hex => {
  const made = webOracleKey({ specHash, args });
  if (!made.ok) throw new Error(made.error);
  return made.value;
};

const stringValue = (text: string) => stringToHex(text, { size: 32 });

describe("a key whose spec is published", () => {
  it("is signed with the number that its source gives for its arguments", async () => {
    const hash = await registry.publish(spec("a number"));
    const provider = await start();
    const { status, body } = await provider.ask({ dataset: NUMBERS, key: key(hash, "São Paulo") });
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: "OK", value: wireValue(2150n), provider: ACCOUNT.address });
    expect(await recoverReporter(reportOf(body), body.signature)).toBe(ACCOUNT.address);
    expect(asked).toContain("/now?q=S%C3%A3o%20Paulo");
    expect((await provider.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.value).toBe(wireValue(3500n));
  });

  it.each([
    ["a string", { type: "string", path: "$.text" }, stringValue("rain")],
    ["false", { type: "bool", path: "$.flag" }, ZERO_VALUE],
    ["bytes32", { type: "bytes32", path: "$.hash" }, `0x${"ab".repeat(32)}`],
    [
      "a long string's hash",
      { type: "string", hash: true, path: "$.long" },
      keccak256(stringToHex("long ".repeat(20))),
    ],
  ])("is signed with %s in a majority dataset", async (title, source, value) => {
    const hash = await registry.publish(word(title, source));
    const { status, body } = await (await start()).ask({ dataset: WORDS, key: key(hash) });
    expect({ status, ...body }).toMatchObject({ status: 200, outcome: "OK", value });
  });

  it("is signed as NOT_AVAILABLE when its source has no value", async () => {
    const hash = await registry.publish(word("too long", { type: "string", path: "$.long" }));
    const provider = await start();
    const { status, body } = await provider.ask({ dataset: WORDS, key: key(hash) });
    expect({ status, ...body }).toMatchObject({ status: 200, outcome: "NOT_AVAILABLE", value: ZERO_VALUE });
    expect(provider.logs).toContainEqual(
      expect.objectContaining({ source: "/sources/0", failure: "string_too_long", msg: "source failed" }),
    );
    const metrics = await provider.registry.metrics();
    expect(metrics).toContain('provider_decisions_total{form="WEB_ORACLE",outcome="NOT_AVAILABLE"} 1');
    expect(metrics).toContain('provider_source_prices_total{source="published",outcome="string_too_long"} 1');
  });

  it("is a row of a batch beside others of its dataset", async () => {
    const hash = await registry.publish(spec("a row"));
    const provider = await start();
    const keys = [key(hash, "Lima"), key(hash, "São Paulo")];
    const body = { network_id: 42, dataset: NUMBERS, keys, timestamp: provider.clock.now };
    const response = await fetch(`${provider.url}/report/batch`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ values: [wireValue(3500n), wireValue(2150n)] });
  });
});

describe("a key is refused unsigned", () => {
  const refused = async (dataset: Address, key: Hex, hosts: Hosts = [HOST]) => {
    const provider = await start({ hosts });
    const { status, body } = await provider.ask({ dataset, key });
    expect(provider.logs.map(({ msg }) => msg)).not.toContain("report signed");
    return { status, code: body.code, detail: body.detail };
  };

  it("when its spec is not published, with how to fix it", async () => {
    expect(await refused(NUMBERS, key(`0x${"12".repeat(32)}`))).toEqual({
      status: 422,
      code: "unknown_key",
      detail: expect.stringMatching(/^No spec with the hash 0x1212\w+ is published on network 42\. Publish it/),
    });
  });

  it("when its dataset takes the other kind of value", async () => {
    const hash = await registry.publish(spec("of a median"));
    const words = await registry.publish(word("of a majority", { type: "string", path: "$.text" }));
    expect(await refused(WORDS, key(hash, "Lima"))).toMatchObject({ status: 422, code: "other_kind" });
    expect(await refused(NUMBERS, key(words))).toMatchObject({ status: 422, code: "other_kind" });
  });

  it("when its arguments are not those of the spec", async () => {
    const hash = await registry.publish(spec("with one argument"));
    for (const wrong of [key(hash), key(hash, ""), key(hash, "a", "b"), key(hash, "x".repeat(41)), key(hash, "..")]) {
      expect(await refused(NUMBERS, wrong)).toMatchObject({ status: 422, code: "invalid_arguments" });
    }
    const misspelled = stringToHex(`WEB/${hash.slice(2)}/S%c3%a3o`);
    expect(await refused(NUMBERS, misspelled)).toMatchObject({ status: 422, code: "invalid_arguments" });
  });

  it("when its host is not allowed; and asked when any is", async () => {
    const hash = await registry.publish(spec("with a host"));
    const before = asked.length;
    for (const hosts of [[], ["weather.example"], [`www.${HOST}`]]) {
      expect(await refused(NUMBERS, key(hash, "Lima"), hosts)).toMatchObject({ status: 422, code: "host_not_allowed" });
    }
    expect(asked.length).toBe(before);
    const open = await start({ hosts: "any" });
    expect((await open.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.outcome).toBe("OK");
  });

  it.each([
    ["no JSON", "0x7b"],
    ["not canonical", stringToHex(JSON.stringify(spec("not canonical"), null, 1))],
    ["with a property twice", stringToHex('{"a":1,"a":1}')],
    ["no spec", stringToHex("{}")],
    ["no UTF-8", "0x22ff22"],
  ] as const)("when the published bytes are %s", async (_, bytes) => {
    const hash = await registry.publishBytes(bytes);
    expect(await refused(NUMBERS, key(hash))).toMatchObject({ status: 422, code: "invalid_spec" });
  });
});

describe("evidence", () => {
  const CLIMATE = { minSources: 1, sources: ["celsius", "nothing"].map((name) => source(name)) };
  function source(name: string) {
    return { ...number, url: `https://${HOST}/now?q={city}`, path: `$.${name}` };
  }

  /** Has the keys signed, and gives what was signed and the decisions' files, in the same order. */
  async function sign(...points: [Address, Hex][]) {
    const provider = await start({ evidence: { folder: join(folder, "evidence"), maxMegabytes: 2 } });
    const signed = [];
    for (const [dataset, key] of points) signed.push((await provider.ask({ dataset, key })).body);
    await provider.close();
    const files = readdirSync(join(folder, "evidence", "web-oracle"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".json"))
      .map((name) => join(folder, "evidence", "web-oracle", name));
    const keyOf = (file: string) => JSON.parse(readFileSync(file, "utf8")).key;
    return { signed, files: signed.map(({ key }) => files.find((file) => keyOf(file) === key) ?? "") };
  }

  it("is replayed into the same value, from the spec, the key's arguments and the answers alone", async () => {
    const climate = await registry.publish(spec("with evidence", CLIMATE));
    const text = await registry.publish(word("text with evidence", { type: "string", path: "$.text" }));
    const none = await registry.publish(word("none with evidence", { type: "string", path: "$.long" }));
    const { signed, files } = await sign(
      [NUMBERS, key(climate, "São Paulo")],
      [NUMBERS, key(climate, "Lima")],
      [WORDS, key(text)],
      [WORDS, key(none)],
    );
    expect(signed.map(({ value }) => value)).toEqual([
      wireValue(2150n),
      wireValue(3500n),
      stringValue("rain"),
      ZERO_VALUE,
    ]);
    const before = asked.length;
    for (const [i, file] of files.entries()) {
      const { outcome, value } = signed[i];
      expect(await replay(file)).toMatchObject({ kind: "web_oracle", isSame: true, decision: { outcome, value } });
    }
    expect(asked.length).toBe(before);
    const shown = await runProvider(["replay", files[0] ?? ""]);
    expect(shown.code).toBe(0);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      key: `WEB/${climate.slice(2)}/S%C3%A3o%20Paulo`,
      title: "with evidence",
      is_same: true,
      value: wireValue(2150n),
      sources: [
        { url: `https://${HOST}/now?q=S%C3%A3o%20Paulo`, value: "2150", used: true },
        { value: null, used: false, reason: "no_node" },
      ],
    });
  });

  it("that was changed is found out", async () => {
    const hash = await registry.publish(spec("changed evidence"));
    const other = await registry.publish(spec("another spec"));
    const { files } = await sign([NUMBERS, key(hash, "Lima")], [NUMBERS, key(other, "Lima")]);
    const [file = "", otherFile = ""] = files;
    const record = JSON.parse(readFileSync(file, "utf8"));
    const write = (change: object) => writeFileSync(file, JSON.stringify({ ...record, ...change }));
    write({ value: wireValue(1n) });
    expect(await replay(file)).toMatchObject({ isSame: false, decision: { value: record.value } });
    write({ key: key(hash, "Oslo") });
    await expect(replay(file)).rejects.toThrow(/it has no answer of .*now\?q=Oslo/);
    write({ spec: JSON.parse(readFileSync(otherFile, "utf8")).spec });
    await expect(replay(file)).rejects.toThrow("the key names another spec");
    write({ answers: [] });
    await expect(replay(file)).rejects.toThrow("it has no answer of");
    write({ kind: "spot_price" });
    await expect(replay(file)).rejects.toThrow("/spec");
    write({ kind: "rumour" });
    await expect(replay(file)).rejects.toThrow("/kind: Expected one of spot_price, web_oracle");
  });
});

describe("provider fetch", () => {
  /** As a provider's owner has it: the RPC's token is in the environment. */
  function writeWebConfig(webOracle: object) {
    const dataset = { keyForm: "WEB_ORACLE", keys: [] };
    const datasets = {
      numbers: { ...dataset, address: NUMBERS, kind: "median" },
      words: { ...dataset, address: WORDS, kind: "majority" },
    };
    const [deployment, config] = [join(folder, "42.json"), join(folder, "provider.json")];
    writeFileSync(deployment, JSON.stringify({ chainId: 42, datasets, webOracleRegistry: registry.address }));
    const settings = { deployments: [deployment], database: "database", redirectedOrigins: redirectedOrigins() };
    const web = { rpcUrls: { 42: registry.rpc.url.replace("t0ken-of-the-rpc", "$" + "{TOKEN}") }, folder: "specs" };
    writeFileSync(config, JSON.stringify({ ...settings, webOracle: { ...web, ...webOracle } }));
    return config;
  }
  const fetchKey = (key: Hex, config: string[]) =>
    runProvider(["fetch", hexToString(key), ...config], { TOKEN: "t0ken-of-the-rpc" });

  it("reads a Web Oracle key as a provider with the configuration does, and keeps nothing", async () => {
    const hash = await registry.publish(spec("fetched"));
    const text = await registry.publish(word("text fetched", { type: "string", path: "$.text" }));
    const none = await registry.publish(word("none fetched", { type: "string", path: "$.long" }));
    const config = ["--config", writeWebConfig({ hosts: [HOST] })];
    const { code, stdout, stderr } = await fetchKey(key(hash, "São Paulo"), config);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({
      key: `WEB/${hash.slice(2)}/S%C3%A3o%20Paulo`,
      title: "fetched",
      outcome: "OK",
      value: "2150",
      sources: [{ name: "/sources/0", url: `https://${HOST}/now?q=S%C3%A3o%20Paulo`, value: "2150", used: true }],
    });
    expect(JSON.parse((await fetchKey(key(text), config)).stdout).value).toBe(stringValue("rain"));
    const failed = await fetchKey(key(none), config);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      outcome: "NOT_AVAILABLE",
      value: null,
      sources: [{ used: false, reason: "string_too_long" }],
    });
    expect(readdirSync(folder)).not.toContain("specs");
  });

  it("says what to fix when it cannot ask", async () => {
    const hash = await registry.publish(spec("not fetched"));
    const refused = async (key: Hex, config: string[]) => {
      const { code, stdout, stderr } = await fetchKey(key, config);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).not.toContain("t0ken");
      return stderr;
    };
    const unknown = key(`0x${"12".repeat(32)}`);
    const config = ["--config", writeWebConfig({})];
    expect(await refused(key(hash, "Lima"), [])).toContain("web-oracle try SPEC");
    expect(await refused(key(hash, "Lima"), config)).toContain(`This provider does not request ${HOST}`);
    expect(await refused(key(hash), ["--config", writeWebConfig({ hosts: [HOST] })])).toContain(
      "has 1 variable(s): city. The key has 0 argument(s)",
    );
    expect(await refused(unknown, config)).toMatch(/^The key's request spec is not published\. No spec with the hash/);
    registry.rpc.fail("error");
    expect(await refused(unknown, config)).toMatch(/eth_chainId failed.*\n.*cannot be read from the chain now/);
  });
});

describe("the registry", () => {
  it("is asked once for a spec, which is on disk from then on", async () => {
    const hash = await registry.publish(spec("kept"));
    const before = registry.rpc.calls.length;
    const provider = await start();
    await Promise.all(["a", "b", "c", "d"].map((arg) => provider.ask({ dataset: NUMBERS, key: key(hash, arg) })));
    expect(registry.rpc.calls.slice(before)).toEqual(["eth_chainId", "eth_call", "eth_getLogs"]);
    expect(readdirSync(join(folder, "42"))).toEqual([`${hash.slice(2)}.json`]);

    registry.rpc.fail("error");
    const restarted = await start();
    expect((await restarted.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.outcome).toBe("OK");
  });

  it("is asked again when the file does not have the hash", async () => {
    const hash = await registry.publish(spec("changed on disk"));
    await (await start()).ask({ dataset: NUMBERS, key: key(hash, "Lima") });
    const file = join(folder, "42", `${hash.slice(2)}.json`);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(HOST, "evil.example.com"));
    const { body } = await (await start({ hosts: "any" })).ask({ dataset: NUMBERS, key: key(hash, "Lima") });
    expect(body.outcome).toBe("OK");
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it.each(["error", "other_chain"] as const)(
    "with an RPC in trouble (%s) is no reason to sign anything",
    async (how) => {
      const hash = await registry.publish(spec(`not reached: ${how}`));
      const provider = await start();
      registry.rpc.fail(how);
      const { status, body, headers } = await provider.ask({ dataset: NUMBERS, key: key(hash, "Lima") });
      expect({ status, ...body }).toMatchObject({ status: 503, code: "registry_unavailable" });
      expect(headers.get("retry-after")).toBe("2");
      expect(provider.logs.map(({ msg }) => msg)).not.toContain("report signed");
      expect(JSON.stringify(provider.logs)).not.toContain("t0ken");
      registry.rpc.fail("none");
      expect((await provider.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.outcome).toBe("OK");
    },
  );

  it("is not flooded by unknown keys, of one caller or of all, and a spec that is published later is found", async () => {
    const provider = await start({ trustedProxies: ["127.0.0.1"] });
    const ask = (hash: Hex, caller: string, ...args: string[]) =>
      provider.ask({ dataset: NUMBERS, key: key(hash, ...args) }, { "x-forwarded-for": caller });
    const lookups = () => registry.rpc.calls.filter((method) => method === "eth_call").length;
    const unknown = Array.from({ length: 100 }, (_, i) => keccak256(stringToHex(String(i))));
    const known = await registry.publish(spec("known to all"));
    const later = spec("published later");
    const before = lookups();
    const flood = await Promise.all(unknown.map((hash) => ask(hash, "203.0.113.1")));
    expect(lookups() - before).toBe(10);
    expect(flood.filter(({ body }) => body.code === "unknown_key")).toHaveLength(10);
    const refused = flood.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(90);
    expect(refused[0]?.body).toMatchObject({
      code: "too_many_requests",
      title: expect.stringContaining("not published"),
    });
    expect(refused[0]?.headers.get("retry-after")).toBe("6");

    // Others are looked up, and what was found once is served to everyone.
    expect((await ask(known, "203.0.113.2", "Lima")).body.outcome).toBe("OK");
    expect((await ask(known, "203.0.113.1", "Lima")).body.outcome).toBe("OK");

    const callers = unknown.map((hash, i) => ask(hash, `198.51.100.${i}`));
    const codes = (await Promise.all(callers)).map(({ body }) => body.code);
    expect(codes).toContain("registry_unavailable");
    expect(lookups() - before).toBeLessThanOrEqual(50);

    await sleep(2_500);
    expect((await ask(await registry.publish(later), "203.0.113.2", "Lima")).body.outcome).toBe("OK");
  });
});
