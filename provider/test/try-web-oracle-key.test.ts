import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, hexToString } from "viem";
import { describe, expect, it } from "vitest";
import { runProvider } from "./support/provider-process.js";
import { HOST, key, NUMBERS, spec, stringValue, useWebOracle, WORDS, word } from "./support/web-oracle.js";

const web = useWebOracle();

describe("provider try of a Web Oracle key", () => {
  /** As a provider's owner has it: the RPC's token is in the environment. */
  function writeWebConfig(webOracle: object) {
    const dataset = { keyForm: "WEB_ORACLE", keys: [] };
    const datasets = {
      numbers: { ...dataset, address: NUMBERS, kind: "median" },
      words: { ...dataset, address: WORDS, kind: "majority" },
    };
    const [deployment, config] = [join(web.folder, "42.json"), join(web.folder, "provider.json")];
    writeFileSync(deployment, JSON.stringify({ chainId: 42, datasets, webOracleRegistry: web.registry.address }));
    const settings = { deployments: [deployment], lease: "lease", redirectedOrigins: web.redirectedOrigins() };
    const webSettings = {
      rpcUrls: { 42: web.registry.rpc.url.replace("t0ken-of-the-rpc", "$" + "{TOKEN}") },
      folder: "specs",
    };
    writeFileSync(config, JSON.stringify({ ...settings, webOracle: { ...webSettings, ...webOracle } }));
    return config;
  }
  const fetchKey = (key: Hex, config: string[]) =>
    runProvider(["try", hexToString(key), "--json", ...config], { TOKEN: "t0ken-of-the-rpc" });

  it("reads a Web Oracle key as a provider with the configuration does, and keeps nothing", async () => {
    const hash = await web.registry.publish(spec("fetched"));
    const text = await web.registry.publish(word("text fetched", { type: "string", path: "$.text" }));
    const none = await web.registry.publish(word("none fetched", { type: "string", path: "$.long" }));
    const config = ["--config", writeWebConfig({ hosts: [HOST] })];
    const { code, stdout, stderr } = await fetchKey(key(hash, "São Paulo"), config);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({
      key: `WEB/${hash.slice(2)}/S%C3%A3o%20Paulo`,
      title: "fetched",
      outcome: "OK",
      value: "2150",
      sources: [{ name: "/sources/0", value: "2150", used: true }],
    });
    expect(JSON.parse((await fetchKey(key(text), config)).stdout).value).toBe(stringValue("rain"));
    const failed = await fetchKey(key(none), config);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      outcome: "NOT_AVAILABLE",
      value: null,
      sources: [{ used: false, reason: expect.stringMatching(/^string_too_long: /) }],
    });
    expect(readdirSync(web.folder)).not.toContain("specs");
  });

  it("says what to fix when it cannot ask", async () => {
    const hash = await web.registry.publish(spec("not fetched"));
    const refused = async (key: Hex, config: string[]) => {
      const { code, stdout, stderr } = await fetchKey(key, config);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).not.toContain("t0ken");
      return stderr;
    };
    const unknown = key(`0x${"12".repeat(32)}`);
    const config = ["--config", writeWebConfig({})];
    expect(await refused(key(hash, "Lima"), [])).toContain("provider try SPEC");
    expect(await refused(key(hash, "Lima"), config)).toContain(`This provider does not request ${HOST}`);
    expect(await refused(key(hash), ["--config", writeWebConfig({ hosts: [HOST] })])).toContain(
      "has 1 variable: city. Give one argument for each, not 0.",
    );
    expect(await refused(unknown, config)).toMatch(/^The key's request spec is not published\. No spec with the hash/);
    web.registry.rpc.fail("error");
    expect(await refused(unknown, config)).toMatch(/eth_chainId failed.*\n.*cannot be read from the chain now/);
  });
});
