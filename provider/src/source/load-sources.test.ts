import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "./load-sources.js";

/** A folder with the shipped Coinbase file, one setting of it changed. */
function folderWith(change: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), "sources-"));
  const spec = JSON.parse(readFileSync(join(SHIPPED_SOURCES, "coinbase.json"), "utf8"));
  writeFileSync(join(folder, "changed.json"), JSON.stringify({ ...spec, ...change }));
  return folder;
}

test("a source is asked without a rate limit if its own origin is redirected", () => {
  const sources = loadSources([SHIPPED_SOURCES], [], { "https://api.kraken.com": "http://127.0.0.1:9000/kraken" });
  const unlimited = sources.filter(({ queries }) =>
    [...queries.values()].every((one) => one.request.rateLimit === null),
  );
  expect(unlimited.map(({ name }) => name)).toEqual(["kraken"]);
});

describe("a source file is refused, with its name and what to fix,", () => {
  test.each<[change: Record<string, unknown>, message: RegExp]>([
    [{ surprise: 1 }, /changed\.json.*\n.*\/surprise/],
    [{ method: "POST" }, /changed\.json: body: POST needs a body/],
    [{ pairs: ["ethusd"] }, /\/pairs\/0/],
    [{ quoteTime: { path: "$..time", unit: "iso8601" } }, /the path is not valid: \.\.\['time'\] cannot be used\./],
    [{ symbols: { case: "upper", spelling: {}, pairs: {} } }, /\{base\} is not a variable. The variables are: pair/],
    [{ rateLimit: { perSecond: 0, burst: 1 } }, /\/rateLimit\/perSecond/],
    [{ symbols: { case: "upper", spelling: { btc: "XBT" } } }, /\/symbols\/spelling/],
  ])("for %j", (change, message) => {
    expect(() => loadSources([folderWith(change)])).toThrow(message);
  });

  test("for a name that another source has", () => {
    expect(() => loadSources([SHIPPED_SOURCES, folderWith({})])).toThrow('another source has the name "coinbase" too');
  });

  test("for another rate limit than its neighbour at the same origin", () => {
    const other = folderWith({ name: "other", rateLimit: { perSecond: 11, burst: 15 } });
    expect(() => loadSources([SHIPPED_SOURCES, other])).toThrow('rateLimit differs from that of "coinbase"');
  });

  test("for an excluded source that is not there; all the others are named", () => {
    expect(() => loadSources([SHIPPED_SOURCES], ["binance", "krakn"])).toThrow(
      /there is no source "krakn"\. The sources are: binance, .*kraken/,
    );
  });
});
