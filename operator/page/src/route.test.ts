import { describe, expect, test } from "vitest";
import { parseRoute, pointPath } from "./route.js";

const HASH = "ab".repeat(32);

describe("addresses", () => {
  const dataset = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

  test.each(["SPOTPX/ETH-USD", `WEB/${HASH}/S%C3%A3o%20Paulo/%2F`, "0x00ff", "a #?&b"])("lead to the key %s", (key) => {
    const point = { page: "point", networkId: 42, dataset, key };
    expect(parseRoute(pointPath(42, dataset, key))).toEqual(point);
    expect(parseRoute(pointPath(42, dataset, key, "read"))).toEqual({ ...point, section: "read" });
  });

  test.each([
    ["", "home"],
    ["#/", "home"],
    [`#/42/${dataset}`, "dataset"],
    ["#/42", "unknown"],
    [`#/0/${dataset}`, "unknown"],
    ["#/42/0x12", "unknown"],
    [`#/42/${dataset}/a/b`, "unknown"],
    [`#/42/${dataset}/a/read/b`, "unknown"],
    ["#/%E0%A4%A", "unknown"],
  ])("%s is the page: %s", (fragment, page) => {
    expect(parseRoute(fragment).page).toBe(page);
  });
});
