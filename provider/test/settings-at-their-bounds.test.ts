import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { boundsIn, endsOf, withSetting } from "@dataset-oracle/tools/schema-bounds";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProviderConfig } from "../src/config.js";
import { loadSetup } from "../src/load-setup.js";
import { OTHER_SOURCES, startFakeExchanges } from "./support/fake-exchanges.js";
import { DATASET, PRIVATE_KEY, startProvider } from "./support/test-provider.js";

/** Every setting of the configuration at both ends of its bounds, which are the schema's. */

const BOUNDS = boundsIn(ProviderConfig);
const NUMBERS = BOUNDS.filter((one) => one.of === "number");
const folder = mkdtempSync(join(tmpdir(), "provider-"));
const file = join(folder, "provider.json");

/** A configuration with every setting that has bounds. */
const CONFIG = {
  ...{ port: 0, metricsPort: 0, lease: "lease", deployments: ["deployment.json"], excludedSources: OTHER_SOURCES },
  ...{ evidence: { folder: "evidence", maxMegabytes: 1 }, operators: ["127.0.0.1"] },
  webOracle: { rpcUrls: { 42: "http://127.0.0.1:1" }, folder: "specs", hosts: ["api.example.com"], rateLimit: {} },
  secrets: [{ host: "api.example.com", header: "x-key", env: "SECRET" }],
};

const datasets = {
  financial: { address: DATASET, kind: "median", keyForm: "SPOT_PRICE", keys: ["SPOTPX/ETH-USD"] },
  numbers: { address: `0x${"22".repeat(20)}`, kind: "median", keyForm: "WEB_ORACLE", keys: [] },
};
const deployment = { chainId: 42, webOracleRegistry: `0x${"33".repeat(20)}`, datasets };
writeFileSync(join(folder, "deployment.json"), JSON.stringify(deployment));
writeFileSync(join(folder, "a"), "secret-in-a-file");

/** Loads all that a provider needs to start. */
function load(config: object) {
  writeFileSync(file, JSON.stringify(config));
  return loadSetup(file, {
    PROVIDER_PRIVATE_KEY: PRIVATE_KEY,
    SECRET: "secret-of-the-environment",
    a: "another-secret",
  });
}

test("every number has a lower and an upper bound", () => {
  expect(NUMBERS.filter(({ least, most }) => !Number.isFinite(least) || !Number.isFinite(most))).toEqual([]);
});

describe("a provider works with", () => {
  const exchanges = startFakeExchanges();
  beforeAll(async () => (await exchanges).quote("2000", "2000", "2000"));
  afterAll(async () => (await exchanges).close());

  /** What else may be said where there are too few sources, or an answer hardly comes in time. */
  const FAILING: Readonly<Record<string, string>> = {
    "/minSources 100": "unknown_key",
    "/sourceTimeoutMs 100": "NOT_AVAILABLE",
  };

  test.each(endsOf(NUMBERS).filter(([path]) => !path.toLowerCase().endsWith("port")))("%s %d", async (path, end) => {
    const { setup } = await load(withSetting(CONFIG, path, end));
    // Each has a lease of its own.
    const { lease: _, ...settings } = setup.config;
    const provider = await startProvider(
      { ...settings, redirectedOrigins: (await exchanges).redirectedOrigins },
      { webOracle: setup.webOracle },
    );
    try {
      const { body } = await provider.ask();
      expect(["OK", FAILING[`${path} ${end}`]], JSON.stringify(body)).toContain(body.code ?? body.outcome);
      expect(provider.logs.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    } finally {
      await provider.close();
    }
  });
});

describe("the length of a text or a list", () => {
  const isList = (path: string) => BOUNDS.some((one) => one.path === path && one.of === "list");
  const loadAt = (path: string, length: number) => {
    // A secret has either of the two.
    const secrets = path === "/secrets/*/file" ? [{ host: "api.example.com", header: "x-key" }] : CONFIG.secrets;
    const value = isList(path) ? CONFIG.deployments.slice(0, length) : "a".repeat(length);
    return load(withSetting({ ...CONFIG, secrets }, path, value));
  };

  test.each(BOUNDS.filter(({ of, least, most }) => of !== "number" && (least ?? most) !== undefined))(
    "$path: from $least, and no less",
    async ({ path, least = 0, most }) => {
      expect([most, isList(path) ? path : "/deployments"]).toEqual([undefined, "/deployments"]);
      await loadAt(path, least);
      const refusal = loadAt(path, least - 1);
      await expect(refusal).rejects.toThrow(ConfigError);
      await expect(refusal).rejects.toThrow(`\n  /${path.split("/")[1]}`);
    },
  );
});
