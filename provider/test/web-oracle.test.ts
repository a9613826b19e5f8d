import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { recoverReporter, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import type { WebOracleSettings } from "../src/config.js";
import { ACCOUNT, reportOf, wireValue } from "./support/test-provider.js";
import { HOST, key, NUMBERS, spec, stringValue, useWebOracle, WORDS, word } from "./support/web-oracle.js";

const web = useWebOracle();

describe("a key whose spec is published", () => {
  it("is signed with the number that its source gives for its arguments", async () => {
    const hash = await web.registry.publish(spec("a number"));
    const provider = await web.start();
    const { status, body } = await provider.ask({ dataset: NUMBERS, key: key(hash, "São Paulo") });
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: "OK", value: wireValue(2150n), provider: ACCOUNT.address });
    expect(await recoverReporter(reportOf(body), body.signature)).toBe(ACCOUNT.address);
    expect(web.asked).toContain("/now?q=S%C3%A3o%20Paulo");
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
    const hash = await web.registry.publish(word(title, source));
    const { status, body } = await (await web.start()).ask({ dataset: WORDS, key: key(hash) });
    expect({ status, ...body }).toMatchObject({ status: 200, outcome: "OK", value });
  });

  it("is signed as NOT_AVAILABLE when its source has no value", async () => {
    const hash = await web.registry.publish(word("too long", { type: "string", path: "$.long" }));
    const provider = await web.start();
    const { status, body } = await provider.ask({ dataset: WORDS, key: key(hash) });
    expect({ status, ...body }).toMatchObject({ status: 200, outcome: "NOT_AVAILABLE", value: ZERO_VALUE });
    expect(body.sources).toEqual([
      expect.objectContaining({ used: false, reason: expect.stringMatching(/^string_too_long: /) }),
    ]);
    const metrics = await provider.registry.metrics();
    expect(metrics).toContain('provider_decisions_total{form="WEB_ORACLE",outcome="NOT_AVAILABLE"} 1');
    expect(metrics).toContain('provider_source_prices_total{source="published",outcome="string_too_long"} 1');
  });

  it("is a row of a batch beside others of its dataset", async () => {
    const hash = await web.registry.publish(spec("a row"));
    const provider = await web.start();
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
  const refused = async (dataset: Address, key: Hex, hosts: WebOracleSettings["hosts"] = [HOST]) => {
    const provider = await web.start({ hosts });
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
    const hash = await web.registry.publish(spec("of a median"));
    const words = await web.registry.publish(word("of a majority", { type: "string", path: "$.text" }));
    expect(await refused(WORDS, key(hash, "Lima"))).toMatchObject({ status: 422, code: "other_kind" });
    expect(await refused(NUMBERS, key(words))).toMatchObject({ status: 422, code: "other_kind" });
  });

  it("when its arguments are not those of the spec", async () => {
    const hash = await web.registry.publish(spec("with one argument"));
    for (const wrong of [key(hash), key(hash, ""), key(hash, "a", "b"), key(hash, "x".repeat(41)), key(hash, "..")]) {
      expect(await refused(NUMBERS, wrong)).toMatchObject({ status: 422, code: "invalid_arguments" });
    }
    const misspelled = stringToHex(`WEB/${hash.slice(2)}/S%c3%a3o`);
    expect(await refused(NUMBERS, misspelled)).toMatchObject({ status: 422, code: "invalid_arguments" });
  });

  it("when its host is not allowed; and asked when any is", async () => {
    const hash = await web.registry.publish(spec("with a host"));
    const before = web.asked.length;
    for (const hosts of [[], ["weather.example"], [`www.${HOST}`]]) {
      expect(await refused(NUMBERS, key(hash, "Lima"), hosts)).toMatchObject({ status: 422, code: "host_not_allowed" });
    }
    expect(web.asked.length).toBe(before);
    const open = await web.start({ hosts: "any" });
    expect((await open.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.outcome).toBe("OK");
  });

  it.each([
    ["no JSON", "0x7b"],
    ["not canonical", stringToHex(JSON.stringify(spec("not canonical"), null, 1))],
    ["with a property twice", stringToHex('{"a":1,"a":1}')],
    ["no spec", stringToHex("{}")],
    ["no UTF-8", "0x22ff22"],
  ] as const)("when the published bytes are %s", async (_, bytes) => {
    const hash = await web.registry.publishBytes(bytes);
    expect(await refused(NUMBERS, key(hash))).toMatchObject({ status: 422, code: "invalid_spec" });
  });
});

describe("the registry", () => {
  it("is asked once for a spec, which is on disk from then on", async () => {
    const hash = await web.registry.publish(spec("kept"));
    const before = web.registry.rpc.calls.length;
    const provider = await web.start();
    await Promise.all(["a", "b", "c", "d"].map((arg) => provider.ask({ dataset: NUMBERS, key: key(hash, arg) })));
    expect(web.registry.rpc.calls.slice(before)).toEqual(["eth_chainId", "eth_call", "eth_blockNumber", "eth_getLogs"]);
    expect(readdirSync(join(web.folder, "42"))).toEqual([`${hash.slice(2)}.json`]);

    web.registry.rpc.fail("error");
    const restarted = await web.start();
    expect((await restarted.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.outcome).toBe("OK");
  });

  it("is asked again when the file does not have the hash", async () => {
    const hash = await web.registry.publish(spec("changed on disk"));
    await (await web.start()).ask({ dataset: NUMBERS, key: key(hash, "Lima") });
    const file = join(web.folder, "42", `${hash.slice(2)}.json`);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(HOST, "evil.example.com"));
    const { body } = await (await web.start({ hosts: "any" })).ask({ dataset: NUMBERS, key: key(hash, "Lima") });
    expect(body.outcome).toBe("OK");
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it.each(["error", "other_chain"] as const)("whose RPC fails (%s) gets nothing signed", async (how) => {
    const hash = await web.registry.publish(spec(`not reached: ${how}`));
    const provider = await web.start();
    web.registry.rpc.fail(how);
    const { status, body, headers } = await provider.ask({ dataset: NUMBERS, key: key(hash, "Lima") });
    expect({ status, ...body }).toMatchObject({ status: 503, code: "registry_unavailable" });
    expect(headers.get("retry-after")).toBe("2");
    expect(provider.logs.map(({ msg }) => msg)).not.toContain("report signed");
    expect(JSON.stringify(provider.logs)).not.toContain("t0ken");
    web.registry.rpc.fail("none");
    expect((await provider.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.outcome).toBe("OK");
  });

  it("is not flooded by unknown keys, from one caller or many, and a spec that is published later is found", async () => {
    const provider = await web.start({ trustedProxies: ["127.0.0.1"] });
    const ask = (hash: Hex, caller: string, ...args: string[]) =>
      provider.ask({ dataset: NUMBERS, key: key(hash, ...args) }, { "x-forwarded-for": caller });
    const lookups = () => web.registry.rpc.calls.filter((method) => method === "eth_call").length;
    const unknown = Array.from({ length: 100 }, (_, i) => keccak256(stringToHex(String(i))));
    const known = await web.registry.publish(spec("known to all"));
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
    expect((await ask(await web.registry.publish(later), "203.0.113.2", "Lima")).body.outcome).toBe("OK");
  });
});
