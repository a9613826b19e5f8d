import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, hexToBytes, keccak256 } from "viem";
import { expect, it, onTestFinished, vi } from "vitest";
import { toCanonicalJson } from "../src/web-oracle/canonical-json.js";
import { ExtractionPool } from "../src/web-oracle/extraction-pool.js";
import { spotPriceDeployment } from "./support/spot-price-deployment.js";
import { startProvider } from "./support/test-provider.js";
import { key, spec } from "./support/web-oracle.js";

const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const HOST = "api.weather.example";

it("a costly path is evaluated by a worker, and the provider signs that there is no value", async () => {
  const api = createServer((_, response) => response.end(`[${Array(60_000).fill(1).join(",")}]`)).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => void api.close());
  const folder = mkdtempSync(join(tmpdir(), "specs-"));
  const source = { method: "GET", path: "$[?@.a != '{city}']", errorPath: "$[?@.b == 'x']" };
  const shape = { type: "uint", decimals: 0, rounding: "truncate" };
  const sources = Array.from({ length: 8 }, (_, i) => ({ ...source, ...shape, url: `https://${HOST}/${i}` }));
  const bytes = toCanonicalJson(spec("a costly spec", { sources }));
  if (!bytes.ok) throw new Error(bytes.error);
  // Stored as if it had been read from the chain.
  const specHash = keccak256(bytes.value);
  mkdirSync(join(folder, "42"));
  writeFileSync(join(folder, "42", `${specHash.slice(2)}.json`), hexToBytes(bytes.value));

  await new Promise((listening) => api.once("listening", listening));
  const provider = await startProvider(
    { redirectedOrigins: { [`https://${HOST}`]: `http://127.0.0.1:${(api.address() as AddressInfo).port}` } },
    {
      deployments: [{ ...spotPriceDeployment({ keyForm: "WEB_ORACLE", keys: [] }), webOracleRegistry: DATASET }],
      webOracle: {
        registries: [{ chainId: 42, address: DATASET, rpcUrl: "http://127.0.0.1:9" }],
        folder,
        hosts: [HOST],
        rateLimitOf: () => ({ perSecond: 100, burst: 100 }),
      },
    },
  );
  onTestFinished(() => provider.close());
  const run = vi.spyOn(ExtractionPool.prototype, "run");
  onTestFinished(() => run.mockRestore());
  // Until a worker runs, the answer is that it is busy.
  const signed = async () => {
    const { status, body } = await provider.ask({ key: key(specHash, "Lima") });
    return status === 503 ? undefined : body;
  };
  const body = await vi.waitUntil(signed, { timeout: 60_000 });
  expect(body.outcome).toBe("NOT_AVAILABLE");
  expect(body.sources[7].reason).toMatch(/^path_too_costly/);
  expect(run).toHaveBeenCalled();
});
