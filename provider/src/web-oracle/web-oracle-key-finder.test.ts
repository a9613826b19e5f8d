import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { type Hex, keccak256, stringToHex } from "viem";
import { expect, test } from "vitest";
import { contextAt } from "../../test/support/test-context.js";
import { toCanonicalJson } from "./canonical-json.js";
import { WebOracleKeyFinder } from "./web-oracle-key-finder.js";

const HOST = "api.weather.example";
const SPEC = {
  title: "The temperature",
  variables: [{ name: "city", type: "string", characters: "unicode", minLength: 1, maxLength: 40 }],
  sources: [
    { method: "GET", url: `https://${HOST}/{city}`, path: "$", type: "uint", decimals: 2, rounding: "truncate" },
  ],
  minSources: 1,
  combine: "median",
};

function canonical(spec: unknown): Hex {
  const bytes = toCanonicalJson(spec);
  if (!bytes.ok) throw new Error(bytes.error);
  return bytes.value;
}

/** Finds the key of a published spec; returns what it asks, or the code of the problem. */
async function find(
  args: readonly string[],
  {
    bytes = canonical(SPEC),
    kind = "median" as DatasetKind,
    hosts = [HOST] as "any" | string[],
    sourceHosts = [] as string[],
    redirectedOrigins = {} as Record<string, string>,
    end = "",
    about = "code" as "code" | "detail",
  } = {},
) {
  const store = { read: async () => bytes, write: async () => {} };
  const rateLimitOf = () => ({ perSecond: 1, burst: 1 });
  const settings = {
    registries: [],
    folder: "",
    hosts,
    sourceHosts,
    rateLimitOf,
    redirectedOrigins,
    hasReserve: false,
  };
  const finder = new WebOracleKeyFinder(
    store,
    { charge: () => {} },
    contextAt(() => 1n),
    settings,
  );
  const key = webOracleKey({ specHash: keccak256(bytes), args });
  if (!key.ok) throw new Error(key.error);
  const found = finder.find({ chainId: 42, kind }, `${key.value}${stringToHex(end).slice(2)}`, {
    id: "203.0.113.1",
    mayUseReserve: false,
    trace: null,
  });
  return found.then(
    ({ requests }) => requests.map(({ url, rateLimit }) => [url, rateLimit]),
    ({ code, detail }) => (about === "code" ? code : detail),
  );
}

test("a key asks what its spec says for its arguments, within the rate limit of the origin", async () => {
  const asked = [[`https://${HOST}/Lima`, { perSecond: 1, burst: 1 }]];
  expect(await find(["Lima"])).toEqual(asked);
  expect(await find(["Lima"], { hosts: "any" })).toEqual(asked);
  const redirect = (origin: string) => ({ redirectedOrigins: { [origin]: "http://127.0.0.1:9000" } });
  expect(await find(["Lima"], redirect("https://other.example"))).toEqual(asked);
  expect(await find(["Lima"], redirect(`https://${HOST}`))).toEqual([[`https://${HOST}/Lima`, null]]);
});

const WORD = canonical({
  ...SPEC,
  sources: [{ method: "GET", url: `https://${HOST}/{city}`, path: "$", type: "string" }],
  combine: "majority",
});

/** A spec of a later version. */
const LATER = canonical({ ...SPEC, sources: [{ ...SPEC.sources[0], later: 1 }] });

test("a field that an older provider does not know is named", async () => {
  const detail = await find(["Lima"], { bytes: LATER, about: "detail" });
  expect(detail).toContain("/sources/0/later: is unknown; remove it");
});

test.each<[why: string, code: string, args: string[], change: Parameters<typeof find>[1]]>([
  ["lacks an argument", "invalid_arguments", [], {}],
  ["is spelled otherwise", "invalid_arguments", ["S"], { end: "%c3%a3o" }],
  ["is of a number, in a dataset of words", "other_kind", ["Lima"], { kind: "majority" }],
  ["is of a word, in a dataset of numbers", "other_kind", ["Lima"], { bytes: WORD }],
  ["asks a host where none is allowed", "host_not_allowed", ["Lima"], { hosts: [] }],
  [
    "asks an exchange's host where any other is allowed",
    "host_not_allowed",
    ["Lima"],
    { hosts: "any", sourceHosts: [HOST] },
  ],
  ["asks a host of which the parent is allowed", "host_not_allowed", ["Lima"], { hosts: ["weather.example"] }],
  ["asks a host of which a child is allowed", "host_not_allowed", ["Lima"], { hosts: [`www.${HOST}`] }],
  ["has a spec that is no JSON", "invalid_spec", [], { bytes: "0x7b" }],
  ["has a field that this provider does not know", "invalid_spec", [], { bytes: LATER }],
  ["has a spec that is not canonical", "invalid_spec", [], { bytes: stringToHex(JSON.stringify(SPEC, null, 1)) }],
])("a key that %s is refused: %s", async (_, code, args, change) => {
  expect(await find(args, change)).toBe(code);
});
