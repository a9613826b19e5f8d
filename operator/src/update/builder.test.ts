import { Trace } from "@dataset-oracle/service/http-server/trace";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { Counter } from "prom-client";
import { numberToHex } from "viem";
import { expect, test } from "vitest";
import type { Dataset } from "../dataset/dataset.js";
import type { ReportSource } from "../reports/report-source.js";
import { Progress } from "../single-flight.js";
import { KeyNotServed, UpdateBuilder } from "./builder.js";
import type { DryRun } from "./dry-run.js";

const MEMBERS = [1, 2, 3, 4].map((i) => numberToHex(i, { size: 20 }));

function builderOf(source: object, dryRun: Partial<DryRun> = {}): UpdateBuilder {
  const committee = {
    current: { members: MEMBERS, toleranceBps: 100n, hash: "0x00" },
    refreshIfReplaced: async () => false,
  };
  const about = { kind: "median", address: MEMBERS[0], maxRoundAge: 300n };
  const dataset = { ...about, committee, keys: { listed: [] } } as unknown as Dataset;
  const coalesced = new Counter({ name: "coalesced", help: "Shared.", labelNames: ["work"], registers: [] });
  return new UpdateBuilder(dataset, source as ReportSource, dryRun as DryRun, SYSTEM_CLOCK, coalesced);
}

test("rows of a key are asked for however lately the providers did not serve it, and nobody is told so any longer", async () => {
  let isServed = false;
  const gatherRows = async () =>
    MEMBERS.map((provider) =>
      isServed ? { kind: "row", provider } : { kind: "failure", provider, refuses: "key", code: "unknown_key" },
    );
  const builder = builderOf({ gatherRows, gatherReports: () => Promise.reject(new Error("asked")) });
  const request = (round: bigint) => builder.build("0x4b31", round, { emit: () => {}, trace: null } as never);
  await expect(builder.rowsForUpdate(["0x4b31"], 5n)).rejects.toThrow(KeyNotServed);
  await expect(request(6n)).rejects.toThrow(KeyNotServed);
  isServed = true;
  expect(await builder.rowsForUpdate(["0x4b31"], 10n)).toHaveLength(4);
  await expect(request(10n)).rejects.toThrow("asked");
});

test("the operator's own reports do not wait for those that a caller asked for, and callers share its own", async () => {
  const askedFor: (Trace | null)[] = [];
  const gatherReports = (...[, , , trace]: Parameters<ReportSource["gatherReports"]>) => {
    askedFor.push(trace);
    return new Promise(() => {});
  };
  const builder = builderOf({ gatherReports });
  const trace = new Trace("request", "trace", "00", true, Math.random);
  for (const of of [trace, trace, null, null, trace]) void builder.build("0x4b31", 5n, new Progress(of));
  expect(askedFor).toEqual([trace, null]);
});

test("a batch stores every key of its call that is not refused, also where one node has a newer round", async () => {
  const keys = ["0x4b31", "0x4b32"] as const;
  const signature = `0x${"11".repeat(64)}1b` as const;
  const row = { kind: "row", missing: 0n, values: keys.map(() => numberToHex(1, { size: 32 })), signature };
  const gatherRows = async () => MEMBERS.map((provider) => ({ ...row, provider }));
  const batchOn = (isStored: readonly boolean[], isRefused = [false, false]) =>
    builderOf({ gatherRows }, { batch: async () => ({ isStored, isRefused, gas: 1n }) }).buildBatch(keys, 5n);
  expect([...((await batchOn([true, false]))?.outcomes?.keys() ?? [])]).toEqual(keys);
  expect([...((await batchOn([true, false], [false, true]))?.outcomes?.keys() ?? [])]).toEqual(["0x4b31"]);
  expect(await batchOn([false, false])).toBe(null);
});

test("the operator shares what a caller's questions were answered", async () => {
  let asked = 0;
  const gatherReports = async () => {
    asked++;
    const signed = { value: numberToHex(1, { size: 32 }), signature: numberToHex(1, { size: 65 }) };
    return MEMBERS.map((provider) => ({ kind: "report", outcome: "OK", provider, ...signed }));
  };
  const builder = builderOf({ gatherReports }, { update: async () => ({ kind: "stale" }) });
  const trace = new Trace("request", "trace", "00", true, Math.random);
  for (const of of [trace, null, trace])
    expect(await builder.build("0x4b31", 5n, new Progress(of))).toEqual({ kind: "stale" });
  expect(asked).toBe(1);
});
