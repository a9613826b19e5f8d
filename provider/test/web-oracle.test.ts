import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WebOracleRecord } from "@dataset-oracle/protocol/http-schemas/evidence";
import { recoverReporter, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, hexToString } from "viem";
import { describe, expect, test } from "vitest";
import { recordsIn, replayAll, writeChanged } from "./support/evidence.js";
import { runCommand } from "./support/run-command.js";
import { ACCOUNT, reportOf, wireValue } from "./support/test-provider.js";
import { HOST, key, NUMBERS, number, spec, stringValue, useWebOracle, WORDS, word } from "./support/web-oracle.js";

const web = await useWebOracle();

describe("a key whose spec is published", () => {
  test("is signed with the number that its source gives for its arguments, in a report and in a row", async () => {
    const hash = await web.registry.publish(spec("a number"));
    const { provider } = web;
    const { status, body } = await provider.ask({ dataset: NUMBERS, key: key(hash, "São Paulo") });
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: "OK", value: wireValue(2150n), provider: ACCOUNT.address });
    expect(await recoverReporter(reportOf(body), body.signature)).toBe(ACCOUNT.address);
    expect(web.asked).toContain("/now?q=S%C3%A3o%20Paulo");
    const keys = [key(hash, "Lima"), key(hash, "São Paulo")];
    const row = await provider.askRow({ dataset: NUMBERS, keys });
    expect(row).toMatchObject({ status: 200, body: { values: [wireValue(3500n), wireValue(2150n)] } });
  });

  test("is signed with 32 bytes in a majority dataset, or as NOT_AVAILABLE when its source has no value", async () => {
    const hash = await web.registry.publish(word("a string", { type: "string", path: "$.text" }));
    const long = await web.registry.publish(word("too long", { type: "string", path: "$.long" }));
    const { status, body } = await web.provider.ask({ dataset: WORDS, key: key(hash) });
    expect({ status, ...body }).toMatchObject({ status: 200, outcome: "OK", value: stringValue("rain") });
    const none = (await web.provider.ask({ dataset: WORDS, key: key(long) })).body;
    expect(none).toMatchObject({ outcome: "NOT_AVAILABLE", value: ZERO_VALUE });
    expect(none.sources).toMatchObject([{ used: false, reason: expect.stringMatching(/^string_too_long: /) }]);
    const metrics = await web.provider.registry.metrics();
    expect(metrics).toContain('provider_decisions_total{form="WEB_ORACLE",outcome="NOT_AVAILABLE"} 1');
    expect(metrics).toContain('provider_source_prices_total{source="published",outcome="string_too_long"} 1');
  });
});

test("a key whose source cannot be reached is an outage, of which nothing is signed", async () => {
  const cut = { ...number, url: `https://${HOST}/cut`, path: "$" };
  const hash = await web.registry.publish(spec("cut off", { variables: [], sources: [cut] }));
  const { status, body } = await web.provider.ask({ dataset: NUMBERS, key: key(hash) });
  expect({ status, ...body }).toMatchObject({ status: 503, code: "source_unreachable", keys: [key(hash)] });
});

describe("the registry", () => {
  test("is asked once for a spec, which is on disk from then on", async () => {
    const hash = await web.registry.publish(spec("kept"));
    const before = web.registry.rpc.calls.length;
    const args = ["a", "b", "c", "d"];
    await Promise.all(args.map((arg) => web.provider.ask({ dataset: NUMBERS, key: key(hash, arg) })));
    expect(web.registry.rpc.calls.slice(before).map(({ method }) => method)).toEqual([
      "eth_call",
      "eth_blockNumber",
      "eth_getLogs",
    ]);
    expect(readdirSync(join(web.folder, "42"))).toContain(`${hash.slice(2)}.json`);

    web.registry.rpc.fail("error");
    const restarted = await web.start();
    expect((await restarted.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.outcome).toBe("OK");
    await restarted.close();
  });

  test("that lacks the spec, whose RPC fails or that belongs to another chain gets nothing signed", async () => {
    const hash = await web.registry.publish(spec("not reached"));
    const provider = await web.start();
    for (const how of ["error", "other_chain"] as const) {
      web.registry.rpc.fail(how);
      const { status, body, headers } = await provider.ask({ dataset: NUMBERS, key: key(hash, "Lima") });
      expect({ status, ...body }).toMatchObject({ status: 503, code: "registry_unavailable" });
      expect(headers.get("retry-after")).toBe("2");
    }
    expect(provider.logs.map(({ msg }) => msg)).not.toContain("report signed");
    expect(JSON.stringify(provider.logs)).not.toContain("token-nobody-may-see");
    web.registry.rpc.fail("none");
    const { body } = await provider.ask({ dataset: NUMBERS, key: key(`0x${"12".repeat(32)}`) });
    expect(body).toMatchObject({ status: 422, code: "unknown_key" });
    expect(body.detail).toMatch(/^No spec with the hash 0x1212\w+ is published on network 42\. Publish it/);
    expect((await provider.ask({ dataset: NUMBERS, key: key(hash, "Lima") })).body.outcome).toBe("OK");
    await provider.close();
  });
});

test("provider try reads a key as a provider with the configuration does, or says what to fix, and keeps nothing", async () => {
  const hash = await web.registry.publish(spec("fetched"));
  const dataset = { keyForm: "WEB_ORACLE", keys: [], address: NUMBERS, kind: "median" };
  const deployment = { chainId: 42, datasets: { numbers: dataset }, webOracleRegistry: web.registry.address };
  writeFileSync(join(web.folder, "42.json"), JSON.stringify(deployment));
  // As a provider's owner has it: the RPC's token is in the environment.
  const rpcUrls = { 42: web.registry.rpc.url.replace("token-nobody-may-see", "$" + "{TOKEN}") };
  const { redirectedOrigins } = web;
  const tryKey = (key: Hex, webOracle: object) => {
    const settings = { deployments: ["42.json"], lease: "lease", redirectedOrigins };
    const config = join(web.folder, "provider.json");
    writeFileSync(config, JSON.stringify({ ...settings, webOracle: { rpcUrls, folder: "specs", ...webOracle } }));
    return runCommand(["try", hexToString(key), "--json", "--config", config], { TOKEN: "token-nobody-may-see" });
  };
  const hosts = [HOST];
  const { code, stdout, stderr } = await tryKey(key(hash, "São Paulo"), { hosts });
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({
    key: `WEB/${hash.slice(2)}/S%C3%A3o%20Paulo`,
    title: "fetched",
    outcome: "OK",
    value: "2150",
    sources: [{ name: "/sources/0", value: "2150", used: true }],
  });
  const problemOf = async (key: Hex, webOracle: object) => {
    const { code, stdout, stderr } = await tryKey(key, webOracle);
    expect([code, stdout]).toEqual([2, ""]);
    return stderr;
  };
  expect(await problemOf(key(hash, "Lima"), {})).toContain(`This provider does not request ${HOST}`);
  const unknown = key(`0x${"12".repeat(32)}`);
  expect(await problemOf(unknown, { hosts })).toMatch(/^The key's request spec is not published\. No spec with/);
  web.registry.rpc.fail("error");
  const unreachable = await problemOf(unknown, { hosts });
  expect(unreachable).toContain("cannot be read from the chain now");
  expect(unreachable).not.toContain("token-nobody-may-see");
  expect(readdirSync(web.folder)).not.toContain("specs");
});

describe("evidence of a Web Oracle value", () => {
  /** Has a key signed, and returns what was signed and the record with its segment. */
  async function sign(dataset: Address, key: Hex) {
    const { body } = await web.provider.ask({ dataset, key });
    const find = () => recordsIn(web.folder).find(({ record }) => record.key === key);
    await expect.poll(find).toBeDefined();
    const { file = "", record } = find() ?? {};
    return { outcome: body.outcome, value: body.value, file, record: record as WebOracleRecord };
  }

  test("is replayed into the same value, from the spec, the key's arguments and the answers alone", async () => {
    const sources = ["celsius", "nothing"].map((name) => {
      return { ...number, url: `https://${HOST}/now?q={city}`, path: `$.${name}` };
    });
    const climate = await web.registry.publish(spec("with evidence", { minSources: 1, sources }));
    const none = await web.registry.publish(word("none with evidence", { type: "string", path: "$.long" }));
    const some = await sign(NUMBERS, key(climate, "São Paulo"));
    expect(some).toMatchObject({ outcome: "OK", value: wireValue(2150n) });
    const signed = [some, await sign(WORDS, key(none))];
    const asked = [...web.asked];
    for (const { file, record, ...decision } of signed) {
      const again = (await replayAll(file)).filter(({ record: { key } }) => key === record.key);
      expect(again).toMatchObject([{ kind: "web_oracle", isSame: true, decision }]);
    }
    expect(web.asked).toEqual(asked);
    const shown = await runCommand(["replay", "--json", some.file, "--key", some.record.key]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      key: `WEB/${climate.slice(2)}/S%C3%A3o%20Paulo`,
      title: "with evidence",
      is_same: true,
      signed: { outcome: "OK", value: "2150" },
    });
  });

  test("that was altered is detected", async () => {
    const hash = await web.registry.publish(spec("changed evidence"));
    const other = await web.registry.publish(spec("another spec"));
    const { spec: otherSpec } = (await sign(NUMBERS, key(other, "Lima"))).record;
    const { file, value, record } = await sign(NUMBERS, key(hash, "Lima"));
    const text = readFileSync(file, "utf8");
    const altered = (change: object) => {
      const isAltered = (line: object) => "key" in line && line.key === record.key;
      writeChanged(file, text, (line) => (isAltered(line) ? { ...line, ...change } : line.version === 1 ? null : line));
      return replayAll(file);
    };
    expect(await altered({ value: wireValue(1n) })).toMatchObject([{ isSame: false, decision: { value } }]);
    await expect(altered({ key: key(hash, "Oslo") })).rejects.toThrow(/it has no answer from .*now\?q=Oslo/);
    await expect(altered({ spec: otherSpec })).rejects.toThrow("the key names another spec");
    await expect(altered({ kind: "rumour" })).rejects.toThrow("/kind: must be one of spot_price, web_oracle");
  });
});
