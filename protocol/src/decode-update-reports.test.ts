import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  numberToHex,
  stringToHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { datasetAbi } from "./abi/dataset.js";
import { signBatchReport } from "./batch-report.js";
import { decodeUpdateCall } from "./decode-update-call.js";
import { decodeUpdate } from "./decode-update-reports.js";
import { encodeUpdate, encodeUpdateBatch } from "./encode-update.js";
import { type Outcome, signReport, ZERO_VALUE } from "./report.js";

const accounts = [1, 2, 3, 4]
  .map((key) => privateKeyToAccount(numberToHex(key, { size: 32 })))
  .toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1));
const members = accounts.map(({ address }) => address);
const committee = { members, toleranceBps: 100n };
const [first, second, third, fourth] = members as [Address, Address, Address, Address];
const header = {
  chainId: 42,
  dataset: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" as Address,
  key: stringToHex("SPOTPX/ETH-USD"),
  round: 1_790_000_000n,
};
const OTHER = stringToHex("SPOTPX/BTC-USD");

const bytes32 = (value: bigint) => numberToHex(value, { size: 32 });

const sign = (places: readonly number[], outcome: Outcome, signs: (place: number) => Hex) =>
  Promise.all(
    accounts
      .filter((_, place) => places.includes(place))
      .map(async (account) => {
        const value = signs(accounts.indexOf(account));
        return {
          provider: account.address,
          value,
          signature: await signReport(account, { ...header, outcome, value }),
        };
      }),
  );

test("an update shows who signed which value, in the committee's order, and who did not", async () => {
  const reports = await sign([0, 2, 3], "OK", (place) => bytes32(10n + BigInt(place)));
  const data = encodeUpdate("median", header, committee, "OK", reports.toReversed());
  expect(decodeUpdateCall(data)).toMatchObject({ outcome: "OK", value: bytes32(12n) });
  expect(await decodeUpdate(data, header)).toEqual({
    round: header.round,
    reports: [
      { provider: first, outcome: "OK", value: bytes32(10n) },
      { provider: third, outcome: "OK", value: bytes32(12n) },
      { provider: fourth, outcome: "OK", value: bytes32(13n) },
    ],
    absentees: [second],
  });
});

test.each([ZERO_VALUE, bytes32(7n)])("an update of no data has no values, whatever was signed: %s", async (value) => {
  const reports = await sign([0, 1, 2], "NOT_AVAILABLE", () => value);
  const data = encodeUpdate("median", header, committee, "NOT_AVAILABLE", reports);
  expect(decodeUpdateCall(data)).toMatchObject({ outcome: "NOT_AVAILABLE", value: null });
  const decoded = await decodeUpdate(data, header);
  expect(decoded?.reports).toEqual(
    [first, second, third].map((provider) => ({ provider, outcome: "NOT_AVAILABLE", value: ZERO_VALUE })),
  );
});

test("a batch shows each key's own part of every row", async () => {
  const { chainId, dataset, round } = header;
  const batch = { chainId, dataset, keys: [OTHER, header.key], round };
  const rows = await Promise.all(
    accounts.slice(0, 3).map(async (account, place) => {
      // The last of them has no data for the second key.
      const missing = place === 2 ? 2n : 0n;
      const values = [bytes32(100n + BigInt(place)), place === 2 ? ZERO_VALUE : bytes32(200n + BigInt(place))];
      const signature = await signBatchReport(account, { ...batch, missing, values });
      return { provider: account.address, missing, values, signature };
    }),
  );
  const data = encodeUpdateBatch("median", batch, committee, rows);
  expect(await decodeUpdate(data, header)).toEqual({
    round,
    reports: [
      { provider: first, outcome: "OK", value: bytes32(200n) },
      { provider: second, outcome: "OK", value: bytes32(201n) },
      { provider: third, outcome: "NOT_AVAILABLE", value: ZERO_VALUE },
    ],
    absentees: [fourth],
  });
  expect((await decodeUpdate(data, { ...header, key: OTHER }))?.reports[2]?.value).toBe(bytes32(102n));
  expect(await decodeUpdate(data, { ...header, key: stringToHex("SPOTPX/SOL-USD") })).toBeNull();
});

test("decodeUpdate returns null for a batch whose rows do not have one value for each key", async () => {
  const { chainId, dataset, key, round } = header;
  const batch = { chainId, dataset, keys: [key], round };
  const row = { missing: 0n, values: [bytes32(1n)] };
  const rows = await Promise.all(
    accounts.slice(0, 3).map(async (account) => {
      return { provider: account.address, ...row, signature: await signBatchReport(account, { ...batch, ...row }) };
    }),
  );
  const data = encodeUpdateBatch("median", batch, committee, rows);
  const [call] = decodeFunctionData({ abi: [getAbiItem({ abi: datasetAbi, name: "updateBatch" })], data }).args;
  const withValues = (values: readonly Hex[]) =>
    encodeFunctionData({ abi: datasetAbi, functionName: "updateBatch", args: [{ ...call, values }] });
  expect(await decodeUpdate(withValues(call.values), header)).toMatchObject({ round });
  expect(await decodeUpdate(withValues([...call.values, bytes32(1n)]), header)).toBeNull();
});

test("decodeUpdate returns null for calldata that does not update the key", async () => {
  const reports = await sign([0, 1, 2], "OK", () => bytes32(1n));
  const data = encodeUpdate("median", header, committee, "OK", reports);
  const announced = encodeFunctionData({ abi: datasetAbi, functionName: "announce", args: [header.key] });
  expect(await decodeUpdate(data, { ...header, key: OTHER })).toBeNull();
  expect(await decodeUpdate(announced, header)).toBeNull();
  expect(decodeUpdateCall(announced)).toBeNull();
  expect(await decodeUpdate("0x", header)).toBeNull();
  expect(await decodeUpdate("0x12345678", header)).toBeNull();
});

test("decodeUpdate returns null for an unrecoverable signature, and another signer for one of another chain", async () => {
  const reports = await sign([0, 1, 2], "OK", () => bytes32(1n));
  const [report, ...others] = reports;
  const broken = { ...report, signature: `0x${"00".repeat(64)}1b` } as (typeof reports)[number];
  const data = encodeUpdate("median", header, committee, "OK", [broken, ...others]);
  expect(await decodeUpdate(data, header)).toBeNull();
  const elsewhere = await decodeUpdate(encodeUpdate("median", header, committee, "OK", reports), {
    ...header,
    chainId: 7,
  });
  for (const { provider } of elsewhere?.reports ?? []) expect(members).not.toContain(provider);
});
