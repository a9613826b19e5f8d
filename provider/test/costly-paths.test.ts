import { expect, onTestFinished, test, vi } from "vitest";
import { ExtractionPool } from "../src/web-oracle/extraction-pool.js";
import { HOST, key, NUMBERS, spec, useWebOracle } from "./support/web-oracle.js";

const web = await useWebOracle();

test("a costly path is evaluated by a worker, and the provider signs that there is no value", async () => {
  const source = { method: "GET", path: "$[?@.a != '{city}']", errorPath: "$[?@.b == 'x']" };
  const shape = { type: "uint", decimals: 0, rounding: "truncate" };
  const sources = Array.from({ length: 8 }, (_, i) => ({ ...source, ...shape, url: `https://${HOST}/large/${i}` }));
  const hash = await web.registry.publish(spec("a costly spec", { sources }));
  const run = vi.spyOn(ExtractionPool.prototype, "run");
  onTestFinished(() => run.mockRestore());
  // On a busy machine, its worker may not be done in time, and nothing is signed yet.
  const signed = async () => {
    const { status, body } = await web.provider.ask({ dataset: NUMBERS, key: key(hash, "Lima") });
    return status === 503 ? undefined : body;
  };
  const body = await vi.waitUntil(signed, { timeout: 120_000, interval: 500 });
  expect(body.outcome).toBe("NOT_AVAILABLE");
  expect(body.sources[7].reason).toMatch(/^path_too_costly/);
  expect(run).toHaveBeenCalled();
});
