import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { type Address, type Hex, hexToBytes, keccak256 } from "viem";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { parseExactJson } from "../src/source/exact-json.js";
import { toCanonicalJson } from "../src/web-oracle/canonical-json.js";
import { extractValues } from "../src/web-oracle/extract-values.js";
import { startProvider, type TestProvider } from "./support/test-provider.js";

// The workers run the compiled modules, so whatever these count was done by the thread that answers requests.
vi.mock(import("../src/source/exact-json.js"), async (original) => {
  const module = await original();
  return { ...module, parseExactJson: vi.fn(module.parseExactJson) };
});
vi.mock(import("../src/web-oracle/extract-values.js"), async (original) => {
  const module = await original();
  return { ...module, extractValues: vi.fn(module.extractValues) };
});

const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const HOST = "api.weather.example";
const LARGE = `[${Array(60_000).fill(1).join(",")}]`;

let api: Server;
let asked = 0;
let folder: string;
let provider: TestProvider;
beforeAll(async () => {
  api = createServer((_, response) => {
    asked += 1;
    response.setHeader("content-type", "application/json").end(LARGE);
  });
  await new Promise<void>((listening) => api.listen(0, "127.0.0.1", listening));
  folder = mkdtempSync(join(tmpdir(), "specs-"));
  mkdirSync(join(folder, "42"));
  const web = { name: "web", keyForm: "WEB_ORACLE" as const, keys: [], address: DATASET, kind: "median" as const };
  const rateLimitOf = () => ({ perSecond: 100, burst: 100 });
  const registries = [{ chainId: 42, address: DATASET, rpcUrl: "http://127.0.0.1:9" }];
  provider = await startProvider(
    { redirectedOrigins: { [`https://${HOST}`]: `http://127.0.0.1:${(api.address() as AddressInfo).port}` } },
    {
      deployments: [{ chainId: 42, webOracleRegistry: DATASET, datasets: [web] }],
      webOracle: { registries, folder, hosts: [HOST], rateLimitOf },
    },
  );
});
afterAll(async () => {
  await provider?.close();
  api?.close();
});
beforeEach(() => {
  vi.mocked(parseExactJson).mockClear();
  vi.mocked(extractValues).mockClear();
});

/**
 * Stores a spec as if it had been read from the chain, and returns its hash. Its variable stands in a path only, so that
 * all of its keys read the same answers.
 */
function publish(title: string): Hex {
  const path = "$[?@.a != '{v}']";
  const source = { method: "GET", path, errorPath: "$[?@.b == 'x']", type: "uint", decimals: 0, rounding: "truncate" };
  const bytes = toCanonicalJson({
    title,
    variables: [{ name: "v", type: "string", characters: "alphanumeric", minLength: 1, maxLength: 40 }],
    sources: [...Array(8).keys()].map((index) => ({ ...source, url: `https://${HOST}/${index}` })),
    minSources: 1,
    combine: "median",
  });
  if (!bytes.ok) throw new Error(bytes.error);
  const hash = keccak256(bytes.value);
  writeFileSync(join(folder, "42", `${hash.slice(2)}.json`), hexToBytes(bytes.value));
  return hash;
}

function ask(specHash: Hex, arg: string) {
  const key = webOracleKey({ specHash, args: [arg] });
  if (!key.ok) throw new Error(key.error);
  return provider.ask({ dataset: DATASET, key: key.value });
}

async function askUntilRead(specHash: Hex) {
  const answer = await ask(specHash, "v0");
  return answer.status === 200 ? answer : undefined;
}

it("requests whose paths are costly are answered by workers, while the provider does other work", async () => {
  const hash = publish("a costly spec");
  const attacks = [...Array(10).keys()].map((index) => ask(hash, `v${index}`));
  const lives = [...Array(20).keys()].map(async () => (await fetch(`${provider.url}/live`)).status);
  expect(await Promise.all(lives)).toEqual(Array(20).fill(200));
  // Their paths take too many steps at every provider, so all of them sign that there is no value. On a busy machine, some
  // have waited for a worker for too long, and are refused unsigned.
  const answers = [...(await Promise.all(attacks)), await vi.waitUntil(() => askUntilRead(hash), 60_000)];
  for (const { status, body } of answers.filter(({ status }) => status !== 503)) {
    expect([status, body.outcome]).toEqual([200, "NOT_AVAILABLE"]);
    expect(body.sources[7].reason).toMatch(/^path_too_costly/);
  }
  expect([vi.mocked(parseExactJson).mock.calls.length, vi.mocked(extractValues).mock.calls.length]).toEqual([0, 0]);
});

it("a caller that keeps asking is refused without a signature, before any source is asked", async () => {
  const hash = publish("another costly spec");
  const flood = async (round: number) => {
    await Promise.all([...Array(25).keys()].map((index) => ask(hash, `v${round}x${index}`)));
    provider.clock.now += 1;
    const before = asked;
    const answer = await ask(hash, `v${round}last`);
    return answer.status === 503 && asked === before ? answer : undefined;
  };
  let round = 0;
  const refusal = await vi.waitUntil(() => flood(++round), { timeout: 30_000, interval: 0 });
  expect(refusal.body).toMatchObject({ code: "source_busy", keys: [expect.stringMatching(/^0x/)] });
  expect(refusal.body.signature).toBeUndefined();
  expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThan(0);
});
