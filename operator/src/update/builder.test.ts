import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { Counter } from "prom-client";
import { numberToHex } from "viem";
import { expect, test } from "vitest";
import type { Dataset } from "../dataset/dataset.js";
import type { ReportSource } from "../reports/report-source.js";
import { UpdateBuilder } from "./builder.js";
import type { Simulator } from "./simulator.js";

const MEMBERS = [1, 2, 3, 4].map((i) => numberToHex(i, { size: 20 }));

test("rows of a key are asked for however lately the providers did not serve it, and nobody is told so any longer", async () => {
  let isServed = false;
  const gatherRows = async () =>
    MEMBERS.map((provider) =>
      isServed ? { kind: "row", provider } : { kind: "failure", provider, refuses: "key", code: "unknown_key" },
    );
  const committee = { current: { members: MEMBERS, toleranceBps: 100n, hash: "0x00" } };
  const dataset = { committee, keys: { listed: [] } } as unknown as Dataset;
  const coalesced = new Counter({ name: "coalesced", help: "Shared.", labelNames: ["work"], registers: [] });
  const source = { gatherRows, gatherReports: () => Promise.reject(new Error("asked")) } as unknown as ReportSource;
  const builder = new UpdateBuilder(dataset, source, {} as Simulator, SYSTEM_CLOCK, coalesced);
  const request = (round: bigint) => builder.build("0x4b31", round, { emit: () => {}, trace: null } as never);
  await expect(builder.rowsOf(["0x4b31"], 5n)).rejects.toMatchObject({ code: "unknown_key" });
  await expect(request(6n)).rejects.toMatchObject({ code: "unknown_key" });
  isServed = true;
  expect(await builder.rowsOf(["0x4b31"], 10n)).toHaveLength(4);
  await expect(request(10n)).rejects.toThrow("asked");
});
