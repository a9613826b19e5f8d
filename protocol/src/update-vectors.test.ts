import { type Address, type Hex, numberToHex, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { signBatchReport } from "./batch-report.js";
import type { Committee } from "./committee-hash.js";
import type { DatasetKind } from "./dataset-kind.js";
import { encodeUpdate, encodeUpdateBatch } from "./encode-update.js";
import { QUERY_STATUSES, type QueryStatus } from "./query-status.js";
import { type Outcome, signReport, ZERO_VALUE } from "./report.js";
import { encodeUpdateCall } from "./update-call.js";

/*
 * Encodes updates, each with the data that a dataset should store, for forge tests that send them to the contract. After a
 * change of the format, `npx vitest run protocol -u` rewrites the file.
 */
const FILE = "../vectors/updates.json";

const accounts = [1, 2, 3, 4, 5]
  .map((key) => privateKeyToAccount(numberToHex(key, { size: 32 })))
  .toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1));
const committee: Committee = { members: accounts.map(({ address }) => address), toleranceBps: 100n };
const chainId = 42;
const dataset: Address = "0xD0fCe56b6e915fbB54aCF9521ebCc9270D50088F";
const round = 1_790_000_000n;

const bytes32 = (value: number) => numberToHex(value, { size: 32 });

/** The stored data of a key; null if a batch leaves it unchanged. */
type Stored = { readonly status: QueryStatus; readonly value: number } | null;
const ok = (value: number): Stored => ({ status: "OK", value });
const DISAGREEMENT: Stored = { status: "DISAGREEMENT", value: 0 };
const NO_DATA: Stored = { status: "NOT_AVAILABLE", value: 0 };

/** The members' reports about one key, by index. Members without one are absent. */
async function single(name: string, kind: DatasetKind, said: Record<number, number>, outcome: Outcome, stored: Stored) {
  const key = stringToHex("SPOTPX/ETH-USD");
  const header = { chainId, dataset, key, round };
  const reports = await Promise.all(
    members(said).map(async ({ account, says }) => {
      const value = outcome === "OK" ? bytes32(says) : ZERO_VALUE;
      const signature = await signReport(account, { ...header, outcome, value });
      return { provider: account.address, value, signature };
    }),
  );
  return vector(name, kind, [key], encodeUpdate(kind, header, committee, outcome, reports), [stored]);
}

/** The members' values of each key, by index; null if they have no data. */
async function batch(
  name: string,
  kind: DatasetKind,
  said: Record<number, readonly (number | null)[]>,
  stored: readonly Stored[],
) {
  const keys = stored.map((_, i) => stringToHex(`SPOTPX/T${i}-USD`));
  const header = { chainId, dataset, keys, round };
  const rows = await Promise.all(
    members(said).map(async ({ account, says }) => {
      const values = says.map((value) => bytes32(value ?? 0));
      const missing = says.reduce((bits, value, i) => (value === null ? bits | (1n << BigInt(i)) : bits), 0n);
      const signature = await signBatchReport(account, { ...header, missing, values });
      return { provider: account.address, missing, values, signature };
    }),
  );
  return vector(name, kind, keys, encodeUpdateBatch(kind, header, committee, rows), stored);
}

function members<T>(said: Record<number, T>) {
  return accounts.flatMap((account, place) => {
    const says = said[place];
    return says === undefined ? [] : [{ account, says }];
  });
}

function vector(name: string, kind: DatasetKind, keys: readonly Hex[], packed: Hex, stored: readonly Stored[]) {
  return {
    name,
    isMedian: kind === "median",
    chainId,
    dataset,
    members: committee.members,
    toleranceBps: Number(committee.toleranceBps),
    timestamp: Number(round),
    data: encodeUpdateCall(packed),
    keys: keys.map((key, i) => ({
      key,
      isStored: stored[i] !== null,
      status: QUERY_STATUSES.indexOf(stored[i]?.status ?? "NOT_AVAILABLE"),
      value: bytes32(stored[i]?.value ?? 0),
    })),
  };
}

test("the updates that are encoded here are those of the vectors", async () => {
  const medians = {
    3: [1000, 7, null, 1, null],
    0: [1003, null, null, 1000, 0],
    4: [1001, null, null, 2000, 0],
    1: [1002, 7, null, 3000, 0],
    2: [1000, 7, 5, 3000, 0],
  };
  const words = { 0: [1, 1, null], 1: [9, 1, null], 3: [9, 2, null], 4: [9, 3, null] };
  const even = { 4: 1000, 0: 1003, 1: 1001, 2: 1002 };
  const updates = await Promise.all([
    single("a median, of an even count the lower", "median", even, "OK", ok(1001)),
    single("a median that too few agree with", "median", { 0: 1, 1: 1000, 3: 2000, 4: 3000 }, "OK", DISAGREEMENT),
    single("no data", "median", { 0: 0, 1: 0, 2: 0, 3: 0 }, "NOT_AVAILABLE", NO_DATA),
    single("a majority, which is not the median", "majority", { 0: 9, 1: 9, 2: 9, 3: 1 }, "OK", ok(9)),
    single("no majority", "majority", { 0: 1, 1: 1, 2: 2, 3: 2, 4: 3 }, "OK", DISAGREEMENT),
    batch("a batch of medians", "median", medians, [ok(1001), null, NO_DATA, DISAGREEMENT, ok(0)]),
    batch("a batch of majorities, with one absent", "majority", words, [ok(9), null, NO_DATA]),
  ]);
  await expect(`${JSON.stringify({ updates }, null, 2)}\n`).toMatchFileSnapshot(FILE);
});
