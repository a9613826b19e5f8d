import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import type { RedirectedOrigins } from "@dataset-oracle/service/untrusted/egress";
import { Value } from "@sinclair/typebox/value";
import { describe, expect, test } from "vitest";
import { DATASET, spotPriceDeployment } from "../../test/support/spot-price-deployment.js";
import { ProviderConfig } from "../config.js";
import { findServedDatasets, type Served } from "../keys/served-keys.js";
import { loadSources, SHIPPED_SOURCES } from "../source/load-sources.js";
import type { CheckedWebOracleSettings } from "../web-oracle/check-settings.js";
import { listStartupWarnings, summarizeSetup } from "./serve.js";

const sources = loadSources([SHIPPED_SOURCES]);

describe("a start", () => {
  const redirectedOrigins = { "https://api.kraken.com": "http://127.0.0.1:9000/kraken" };
  const served = findServedDatasets([spotPriceDeployment()], sources, 2);
  const web = findServedDatasets([spotPriceDeployment({ keyForm: "WEB_ORACLE", keys: [] })], sources, 2);
  const settings = {
    registries: [],
    folder: "/specs",
    hosts: ["api.example.com"],
    sourceHosts: [],
    rateLimitOf: () => ({ perSecond: 1, burst: 1 }),
  };

  const account = accountFromPrivateKey(`0x${"11".repeat(32)}`);
  const notes = (served: Served, webOracle: CheckedWebOracleSettings | null, redirectedOrigins: RedirectedOrigins) =>
    listStartupWarnings({ config: { ...Value.Create(ProviderConfig), redirectedOrigins }, served, webOracle });

  test("says what is not served, and what is not real", () => {
    expect(notes(served, null, redirectedOrigins)).toEqual([
      "DEVELOPMENT ONLY: http://127.0.0.1:9000/kraken is queried instead of https://api.kraken.com. The signed prices are not real.",
      `${DATASET} on network 42, a median dataset: these keys have too few sources and are not served: ` +
        "SPOTPX/NOSUCH-USD. Add sources, or lower minSources. Prices need a median dataset.",
    ]);
    expect(summarizeSetup({ served, webOracle: null, account })).toBe(
      `Provider ${account.address} serves network 42 (datasets: 1, keys: 2).`,
    );
  });

  test("says whether the Web Oracle is served, and how far it may reach", () => {
    expect(summarizeSetup({ served: web, webOracle: null, account })).toContain("(datasets: 0, keys: 0)");
    expect(notes(web, null, {})).toEqual([expect.stringContaining("because webOracle is not set")]);
    expect(notes(web, settings, {})).toEqual([]);
    expect(notes(web, { ...settings, hosts: "any" }, {})).toEqual([expect.stringContaining("every public host")]);
    expect(summarizeSetup({ served: web, webOracle: settings, account })).toContain(
      "every published spec that queries only the 1 hosts in webOracle/hosts (Web Oracle datasets: 1).",
    );
  });
});
