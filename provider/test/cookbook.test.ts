import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { type Hex, numberToHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSpec } from "../src/cli/spec-file.js";
import { valueToText } from "../src/cli/value-text.js";
import { SourceReader } from "../src/source/source-reader.js";
import { EXTRACT_HERE } from "../src/web-oracle/extract-values.js";
import { readWebOracleValue } from "../src/web-oracle/read-web-oracle-value.js";
import type { WebOracleKey } from "../src/web-oracle/web-oracle-key-finder.js";

const at = (path: string) => new URL(`../../docs/${path}`, import.meta.url).pathname;
const cookbook = readFileSync(at("Cookbook.md"), "utf8");
const FILES = readdirSync(at("cookbook"));
const HASH: Hex = "0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6";
const JSON_TYPE = "application/json; charset=utf-8";

/** How an API is asked, and what it answers: in the format that it documents, with values that are made up. */
interface Exchange {
  /** Method, path and query. */
  readonly asked: string;
  readonly body?: unknown;
  readonly answer: unknown;
}

interface Recipe {
  readonly args: readonly string[];
  readonly exchanges: readonly Exchange[];
  /** As on chain: a number is scaled. */
  readonly value: string;
  /** An answer of the same API that gives no value. */
  readonly none: unknown;
}

const block = (hash: Hex | null): Exchange => ({
  asked: "POST /",
  body: { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["0xf4240", false] },
  answer: { jsonrpc: "2.0", id: 1, result: hash && { number: "0xf4240", hash, transactions: [] } },
});

/** A recipe with one source. */
const recipe = (args: readonly string[], asked: string, answer: unknown, value: string, none: unknown): Recipe => ({
  args,
  exchanges: [{ asked: `GET ${asked}`, answer }],
  value,
  none,
});

const RECIPES: Readonly<Record<string, Recipe>> = {
  "reference-rate": recipe(
    ["EUR", "USD"],
    "/v1/latest?base=EUR&symbols=USD",
    { amount: 1.0, base: "EUR", date: "2026-11-20", rates: { USD: 1.0843 } },
    "1084300000000000000",
    { message: "not found" },
  ),
  precipitation: recipe(
    ["52.52", "-13.41"],
    "/v1/forecast?latitude=52.52&longitude=-13.41&current=precipitation",
    { latitude: 52.52, longitude: -13.41, current: { time: "2026-11-20T12:00", interval: 900, precipitation: 0.3 } },
    "30",
    { error: true, reason: "Latitude must be in range of -90 to 90°. Given: 152.52." },
  ),
  "water-level": recipe(
    ["9414290"],
    "/api/prod/datagetter?station=9414290&product=water_level&date=latest&datum=STND&units=metric&time_zone=gmt&format=json",
    { metadata: { id: "9414290" }, data: [{ t: "2026-11-20 12:00", v: "2.734", s: "0.010", f: "0,0,0,0", q: "p" }] },
    "2734",
    { error: { message: "No data was found. This product may not be offered at this station." } },
  ),
  "public-debt": recipe(
    [],
    "/services/api/fiscal_service/v2/accounting/od/debt_to_penny?fields=record_date,tot_pub_debt_out_amt&sort=-record_date&page%5Bsize%5D=1",
    { data: [{ record_date: "2026-11-19", tot_pub_debt_out_amt: "38123456789012.34" }], meta: { count: 1 } },
    "3812345678901234",
    { error: "Invalid Query Param", message: "Invalid query parameter 'field' with value '[x]'." },
  ),
  "development-indicator": recipe(
    ["DEU", "SP.POP.TOTL"],
    "/v2/country/DEU/indicator/SP.POP.TOTL?format=json&mrnev=1",
    [{ page: 1, pages: 1, total: 1 }, [{ countryiso3code: "DEU", date: "2025", value: 83510950, decimal: 0 }]],
    "83510950000000",
    [{ message: [{ id: "120", key: "Invalid value", value: "The provided parameter value is not valid" }] }],
  ),
  "bitcoin-fee": {
    args: [],
    exchanges: [
      { asked: "GET /api/v1/fees/recommended", answer: { fastestFee: 6, halfHourFee: 5, hourFee: 4, minimumFee: 1 } },
      { asked: "GET /api/fee-estimates", answer: { "1": 6.234, "2": 5.5, "3": 5.125, "144": 1.027 } },
    ],
    // The lower of two: what is signed was answered by one of them.
    value: "5000",
    none: {},
  },
  "match-finished": recipe(
    ["72221"],
    "/getmatchdata/72221",
    { matchID: 72221, matchDateTimeUTC: "2026-11-14T17:30:00Z", matchIsFinished: true, matchResults: [] },
    "true",
    {},
  ),
  "public-holiday": recipe(
    ["AT", "2026", "2026-12-25"],
    "/api/v3/PublicHolidays/2026/AT",
    [
      { date: "2026-12-08", localName: "Mariä Empfängnis", name: "Immaculate Conception", countryCode: "AT" },
      { date: "2026-12-25", localName: "Weihnachten", name: "Christmas Day", countryCode: "AT" },
    ],
    "Christmas Day",
    [{ date: "2026-12-08", localName: "Mariä Empfängnis", name: "Immaculate Conception", countryCode: "AT" }],
  ),
  "software-release": recipe(
    ["nodejs"],
    "/api/v1/products/nodejs/releases/latest",
    { result: { name: "25", isLts: false, latest: { name: "25.2.0", date: "2026-11-11" } } },
    "25.2.0",
    { result: { name: "25", latest: null } },
  ),
  "ethereum-block": {
    args: ["0xf4240"],
    exchanges: [block(HASH), block(HASH)],
    value: HASH,
    none: { jsonrpc: "2.0", id: 1, error: { code: -32602, message: "invalid argument 0: hex string" } },
  },
};

let server: Server;
let exchanges: readonly Exchange[] = [];
const requests: { asked: string; body: unknown }[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    // Each origin is redirected to a path prefix of its own.
    const [, source = "0", rest = ""] = /^\/(\d)(.*)$/.exec(request.url ?? "") ?? [];
    let text = "";
    for await (const chunk of request) text += chunk;
    requests.push({ asked: `${request.method} ${rest}`, body: text === "" ? undefined : JSON.parse(text) });
    response.setHeader("content-type", JSON_TYPE).end(JSON.stringify(exchanges[Number(source)]?.answer));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});

afterAll(() => server.close());

/** Tries a spec, as `provider try` does with redirected origins. */
async function attempt(name: string, args: readonly string[], answers: readonly Exchange[]) {
  exchanges = answers;
  requests.length = 0;
  const { compiled } = loadSpec(at(`cookbook/${name}.json`));
  const { port } = server.address() as AddressInfo;
  const origins = compiled.spec.sources.map(({ url }) => new URL(url.replace(/\{\w+\}/g, "x")).origin);
  const redirectedOrigins = Object.fromEntries(origins.map((origin, i) => [origin, `http://127.0.0.1:${port}/${i}`]));
  const egress = new Egress({ redirectedOrigins, secrets: Secrets.load([], {}) });
  const bound = compiled.bind(args);
  if (!bound.ok) throw new Error(bound.error);
  const reader = new SourceReader({ egress, timeoutMs: 5_000, hasReserve: false, now: () => 1n });
  const limited = bound.value.sources.map(({ request }) => ({ ...request, rateLimit: null }));
  const key = {
    kind: "web_oracle",
    name,
    compiled,
    request: bound.value,
    requests: limited,
  } as unknown as WebOracleKey;
  const value = await readWebOracleValue(key, { reader, caller: { id: "test", mayUseReserve: true } }, EXTRACT_HERE);
  await egress.close();
  const text = valueToText({ key, value, at: 1n });
  return { text, hasValue: value.kind === "value", type: compiled.type };
}

describe("the cookbook", () => {
  it("has ten recipes, all of them tried here and described", () => {
    const names = FILES.map((file) => file.replace(".json", ""));
    expect(names).toHaveLength(10);
    expect(Object.keys(RECIPES).toSorted()).toEqual(names.toSorted());
    for (const name of names) expect(cookbook).toContain(`(cookbook/${name}.json)`);
    for (const file of FILES) {
      const { hash, compiled } = loadSpec(at(`cookbook/${file}`));
      const variables = compiled.spec.variables.map(({ name }) => `/<${name}>`).join("");
      expect(cookbook).toContain(`\`WEB/${hash.slice(2)}${variables}\``);
    }
  });

  it.each(Object.entries(RECIPES))("%s takes the value out of what its API answers", async (name, recipe) => {
    const { text, hasValue, type } = await attempt(name, recipe.args, recipe.exchanges);
    expect(hasValue, text).toBe(true);
    const shown = type === "uint" ? numberToHex(BigInt(recipe.value), { size: 32 }) : recipe.value;
    expect(text.split("\n").at(-1)).toContain(shown);
    const asked = recipe.exchanges.map(({ asked: request, body }) => ({ asked: request, body }));
    expect(requests.toSorted((a, b) => a.asked.localeCompare(b.asked))).toEqual(
      asked.toSorted((a, b) => a.asked.localeCompare(b.asked)),
    );
    const none = recipe.exchanges.map((exchange) => ({ ...exchange, answer: recipe.none }));
    expect((await attempt(name, recipe.args, none)).hasValue).toBe(false);
  });

  it("two nodes that disagree on the block give no value", async () => {
    const other = `${HASH.slice(0, -1)}7` as Hex;
    expect((await attempt("ethereum-block", ["0xf4240"], [block(HASH), block(other)])).hasValue).toBe(false);
    expect((await attempt("ethereum-block", ["0xf4240"], [block(HASH), block(null)])).hasValue).toBe(false);
  });
});
