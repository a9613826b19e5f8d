import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import {
  createClient,
  custom,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  keccak256,
  numberToHex,
  padHex,
  stringToHex,
} from "viem";
import { beforeEach, expect, test } from "vitest";
import { describeSpec, PublishedSpecs } from "./specs.js";

const REGISTRY = "0x0000000000000000000000000000000000000001";
const specOf = (about: object, url: string): Hex => {
  const source = { method: "GET", url, path: "$.value", type: "uint" };
  return stringToHex(JSON.stringify({ variables: [], sources: [source], minSources: 1, combine: "median", ...about }));
};
const SPEC = specOf({ title: "Wind" }, "https://wind.example");
const keyOf = (spec: Hex) => stringToHex(`WEB/${keccak256(spec).slice(2)}`);

let calls: string[];
let spec: Hex;
let rpc: { readonly isPublished: boolean; readonly fails: boolean };
let now: number;
let specs: PublishedSpecs;

function answer(method: string): unknown {
  calls.push(method);
  if (rpc.fails) throw new Error("the RPC fails");
  if (method === "eth_call") return numberToHex(rpc.isPublished ? 7 : 0, { size: 32 });
  if (method === "eth_blockNumber") return "0x7";
  const topics = encodeEventTopics({
    abi: webOracleRegistryAbi,
    eventName: "SpecPublished",
    args: { specHash: keccak256(spec) },
  });
  const position = { blockNumber: "0x7", blockHash: padHex("0x7"), logIndex: "0x0", transactionIndex: "0x0" };
  const data = encodeAbiParameters([{ type: "bytes" }], [spec]);
  return [{ ...position, address: REGISTRY, topics, data, transactionHash: padHex("0x8"), removed: false }];
}

beforeEach(() => {
  calls = [];
  spec = SPEC;
  rpc = { isPublished: false, fails: false };
  now = 1_790_000_000_000;
  const transport = custom({ request: async ({ method }) => answer(method) }, { retryCount: 0 });
  specs = new PublishedSpecs(
    createClient({ transport }),
    REGISTRY,
    clockOf(() => now),
  );
});

test("specs that are not published are not read again for two minutes, however many there are", async () => {
  const keys = Array.from({ length: 200 }, (_, i) => keyOf(numberToHex(i)));
  for (let overview = 0; overview < 3; overview++) {
    expect(await Promise.all(keys.map((key) => specs.of(key)))).toEqual(Array(200).fill(null));
    expect(calls.length).toBe(200);
  }
});

test("a spec that is published later is found after two minutes, and never read again", async () => {
  expect(await specs.of(keyOf(SPEC))).toBeNull();
  rpc = { ...rpc, isPublished: true };
  now += 120_000;
  expect(await specs.of(keyOf(SPEC))).toBeNull();
  now += 1;
  const format = { title: "Wind", type: "uint", decimals: 0, unit: null, sources: ["wind.example"] };
  const read = { spec_hash: keccak256(SPEC), variables: [], format };
  expect(await specs.of(keyOf(SPEC))).toEqual(read);
  now += 3_600_000;
  expect(await specs.of(keyOf(SPEC))).toEqual(read);
  expect(calls).toEqual(["eth_call", "eth_call", "eth_blockNumber", "eth_getLogs"]);
});

test("a spec that cannot be read is read again after ten seconds", async () => {
  rpc = { isPublished: true, fails: true };
  expect(await specs.of(keyOf(SPEC))).toBeNull();
  rpc = { ...rpc, fails: false };
  expect(await specs.of(keyOf(SPEC))).toBeNull();
  now += 10_001;
  expect(await specs.of(keyOf(SPEC))).toMatchObject({ format: { title: "Wind" } });
});

test("a spec that many keys share is read once when they are asked for at the same time", async () => {
  rpc = { isPublished: true, fails: false };
  const read = await Promise.all(Array.from({ length: 500 }, () => specs.of(keyOf(SPEC))));
  expect(new Set(read.map((one) => one?.format.title))).toEqual(new Set(["Wind"]));
  expect(calls).toEqual(["eth_call", "eth_blockNumber", "eth_getLogs"]);
});

test("a spec's unit scales its numbers, whatever scale its sources have; one that could mislead is not understood", () => {
  const describeWithUnit = (symbol: string) =>
    describeSpec(specOf({ title: "Debt", unit: { symbol, decimals: 2 } }, "https://debt.example"));
  expect(describeWithUnit("USD")?.format).toMatchObject({ decimals: 2, unit: "USD" });
  expect(describeWithUnit("\u202edsu")).toBeNull();
});
