import { traceOf } from "@dataset-oracle/service/http-server/trace";
import { pino } from "pino";
import { type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { contextAt } from "../../test/support/test-context.js";
import { problem } from "../problems.js";
import { SpecFinder } from "./spec-finder.js";

const NOW = () => 1n;
const hash = (n: number) => numberToHex(n, { size: 32 });

test("callers of the same spec do not get the refusal of one that has asked for too many", async () => {
  const registries = new Map([[42, { read: async () => null }]]);
  const store = { read: async () => null, write: async () => {} };
  const finder = new SpecFinder(registries, store, { charge: () => {} }, contextAt(NOW), false);
  const anonymous = { id: "203.0.113.1", mayUseReserve: false, trace: null };
  const operator = { id: "198.51.100.7", mayUseReserve: true, trace: null };
  const codeOf = (spec: number, caller: typeof anonymous) =>
    finder.find(42, hash(spec), caller).then(
      () => "found",
      ({ code }) => code,
    );
  for (let spec = 0; spec < 10; spec++) expect(await codeOf(spec, anonymous)).toBe("unknown_key");

  const other = { id: "203.0.113.2", mayUseReserve: false, trace: null };
  const together = await Promise.all([
    codeOf(98, anonymous),
    codeOf(98, other),
    codeOf(99, anonymous),
    codeOf(99, operator),
  ]);
  expect(together).toEqual(["too_many_requests", "unknown_key", "too_many_requests", "unknown_key"]);

  // All callers together have a limit, too, of what is asked of the chain.
  const many = Array.from({ length: 100 }, (_, i) => codeOf(1_000 + i, { ...anonymous, id: `203.0.113.${100 + i}` }));
  expect(await Promise.all(many)).toContain("registry_unavailable");
});

test.each([
  ["a registry that cannot be read", "registry cannot be read"],
  ["a disk that is full", "spec not stored on disk"],
])("a caller that has had its share of the log adds no line about %s", async (_, message) => {
  const lines: string[] = [];
  const isRegistryDown = message.startsWith("registry");
  const read = async () => {
    if (isRegistryDown) throw new Error("down");
    return "0x00" as const;
  };
  const store = { read: async () => null, write: () => Promise.reject(Object.assign(new Error(), { code: "ENOSPC" })) };
  const context = contextAt(NOW, pino({}, { write: (line: string) => void lines.push(line) }));
  const finder = new SpecFinder(new Map([[42, { read }]]), store, { charge: () => {} }, context, false);
  const ask = (spec: number, isLogged: boolean) =>
    finder
      .find(42, hash(spec), {
        id: "203.0.113.1",
        mayUseReserve: false,
        trace: traceOf({}, "id", isLogged, Math.random),
      })
      .catch(() => {});
  for (let spec = 0; spec < 5; spec++) await ask(spec, false);
  expect(lines).toEqual([]);
  await ask(5, true);
  expect(lines).toEqual([expect.stringContaining(message)]);
});

test("a caller is charged for each spec that is compiled before it is looked for, and for none that is in memory", async () => {
  const charged: number[] = [];
  const read: Hex[] = [];
  const store = {
    read: async (_: number, spec: Hex) => (read.push(spec) > 0 ? ("0x00" as const) : null),
    write: async () => {},
  };
  const charge = (_: object, keys: number) => {
    if (charged.length === 2) throw problem("too_many_rounds", { seconds: 1 });
    charged.push(keys);
  };
  const finder = new SpecFinder(new Map(), store, { charge }, contextAt(NOW), false);
  const find = (spec: number) =>
    finder.find(42, hash(spec), { id: "203.0.113.1", mayUseReserve: false, trace: null }).catch(({ code }) => code);
  // Two keys of a row have the same spec.
  const codes = [...(await Promise.all([find(1), find(1)])), await find(2), await find(1), await find(3)];
  expect(codes).toEqual([...Array(4).fill("invalid_spec"), "too_many_rounds"]);
  expect([charged, read]).toEqual([
    [50, 50],
    [hash(1), hash(2)],
  ]);
});
