import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { Deployment } from "@dataset-oracle/service/config/deployment";
import { stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { DATASET, spotPriceDeployment } from "../../test/support/spot-price-deployment.js";
import { loadSources, SHIPPED_SOURCES } from "../source/load-sources.js";
import { findServedDatasets, requireKeys } from "./served-keys.js";

const sources = loadSources([SHIPPED_SOURCES]);

function serve(one: Deployment, minSources = 2) {
  const dataset = findServedDatasets([one], sources, minSources).get(42)?.get(DATASET);
  return { keys: [...(dataset?.keys.keys() ?? [])], unserved: dataset?.unservedKeys };
}

describe("a provider serves", () => {
  test("the keys that enough sources know", () => {
    expect(serve(spotPriceDeployment())).toEqual({
      keys: [spotPriceKey("ETH-USD"), spotPriceKey("BTC-USD")],
      unserved: ["SPOTPX/NOSUCH-USD"],
    });
  });

  test("no price to a dataset that takes a majority of equal values", () => {
    expect(serve(spotPriceDeployment({ kind: "majority" })).keys).toEqual([]);
  });

  test("no listed Web Oracle key by itself: they are found when they are asked for", () => {
    const dataset = spotPriceDeployment({ keyForm: "WEB_ORACLE", keys: [stringToHex(`WEB/${"0".repeat(64)}`)] });
    expect(serve(dataset)).toEqual({ keys: [], unserved: [] });
  });
});

describe("requireKeys", () => {
  const served = findServedDatasets([spotPriceDeployment()], sources, 2);
  const web = findServedDatasets([spotPriceDeployment({ keyForm: "WEB_ORACLE", keys: [] })], sources, 2);

  test("needs something to serve", () => {
    expect(() => requireKeys(served, 2, false)).not.toThrow();
    expect(() => requireKeys(web, 2, true)).not.toThrow();
    expect(() => requireKeys(web, 2, false)).toThrow("No key of the deployments has 2 sources");
  });
});
