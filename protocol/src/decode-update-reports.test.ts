import { type Address, encodeFunctionData, type Hex, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import vectors from "../vectors/updates.json" with { type: "json" };
import { datasetAbi } from "./abi/dataset.js";
import { decodeUpdate } from "./decode-update-reports.js";
import { encodeUpdate } from "./encode-update.js";
import { packUpdate } from "./packed-update.js";
import { signReport, ZERO_VALUE } from "./report.js";
import { decodeUpdateCall, encodeUpdateCall } from "./update-call.js";

// What the members said in these is in `update-vectors.test.ts`.
type UpdateVector = (typeof vectors.updates)[number];
const named = (name: string) => vectors.updates.find((vector) => vector.name === name) as UpdateVector;
const MEDIAN = named("a median, of an even count the lower");
const BATCH = named("a batch of majorities, with one absent");

const members = MEDIAN.members as Address[];
const dataset = MEDIAN.dataset as Address;
const round = BigInt(MEDIAN.timestamp);
const pointOf = ({ chainId, keys }: UpdateVector, key = 0) => ({ chainId, dataset, key: keys[key]?.key as Hex });
const decode = ({ data }: UpdateVector, point: ReturnType<typeof pointOf>) => decodeUpdate(data as Hex, point);

const bytes32 = (value: number) => numberToHex(value, { size: 32 });
/** The report of the member at a place; null is no data. */
const said = (place: number, value: number | null) => ({
  provider: members[place],
  outcome: value === null ? "NOT_AVAILABLE" : "OK",
  value: bytes32(value ?? 0),
});

test("an update shows who signed which value, in the committee's order, and who did not", async () => {
  expect(decodeUpdateCall(MEDIAN.data as Hex)).toMatchObject({ outcome: "OK", value: bytes32(1001) });
  expect(await decode(MEDIAN, pointOf(MEDIAN))).toEqual({
    round,
    reports: [said(0, 1003), said(1, 1001), said(2, 1002), said(4, 1000)],
    absentees: [members[3]],
  });
});

test("an update of no data has no values", async () => {
  const account = privateKeyToAccount(bytes32(1));
  const point = pointOf(MEDIAN);
  const signature = await signReport(account, { ...point, round, outcome: "NOT_AVAILABLE", value: ZERO_VALUE });
  const reports = [{ provider: account.address, value: ZERO_VALUE, signature }];
  const committee = { members, toleranceBps: 100n };
  const data = encodeUpdateCall(encodeUpdate("median", { key: point.key, round }, committee, "NOT_AVAILABLE", reports));
  expect(decodeUpdateCall(data)).toMatchObject({ outcome: "NOT_AVAILABLE", value: ZERO_VALUE });
  const decoded = await decodeUpdate(data, point);
  expect(decoded?.reports).toEqual([{ provider: account.address, outcome: "NOT_AVAILABLE", value: ZERO_VALUE }]);
});

test("a batch shows each key's own part of every row", async () => {
  const absentees = [members[2]];
  expect(await decode(BATCH, pointOf(BATCH, 1))).toEqual({
    round,
    reports: [said(0, 1), said(1, 1), said(3, 2), said(4, 3)],
    absentees,
  });
  expect(await decode(BATCH, pointOf(BATCH, 2))).toEqual({
    round,
    reports: [0, 1, 3, 4].map((place) => said(place, null)),
    absentees,
  });
  expect(await decode(BATCH, pointOf(MEDIAN))).toBeNull();
});

test("calldata that does not update the key is none", async () => {
  const announced = encodeFunctionData({ abi: datasetAbi, functionName: "announce", args: [pointOf(MEDIAN).key] });
  expect(await decode(MEDIAN, pointOf(BATCH))).toBeNull();
  expect(decodeUpdateCall(announced)).toBeNull();
  for (const data of [announced, "0x", "0x12345678"] as const) {
    expect(await decodeUpdate(data, pointOf(MEDIAN))).toBeNull();
  }
});

test("an update with an unrecoverable signature is none, and has other signers on another chain", async () => {
  const update = decodeUpdateCall(MEDIAN.data as Hex);
  if (update?.kind !== "update") throw new Error("The vector is no update of one key.");
  const [first, ...others] = update.members;
  const broken = { ...(first as object), r: ZERO_VALUE } as typeof first & object;
  const data = encodeUpdateCall(packUpdate({ ...update, members: [broken, ...others] }));
  expect(decodeUpdateCall(data)).toMatchObject({ kind: "update" });
  expect(await decodeUpdate(data, pointOf(MEDIAN))).toBeNull();
  const elsewhere = await decode(MEDIAN, { ...pointOf(MEDIAN), chainId: 7 });
  expect(elsewhere?.reports).toHaveLength(4);
  for (const { provider } of elsewhere?.reports ?? []) expect(members).not.toContain(provider);
});
