import fc from "fast-check";
import {
  type Address,
  bytesToHex,
  concatHex,
  getAddress,
  type Hex,
  numberToHex,
  padHex,
  size,
  sliceHex,
  stringToHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { signBatchReport } from "./batch-report.js";
import type { Committee } from "./committee-hash.js";
import type { DatasetKind } from "./dataset-kind.js";
import { encodeUpdate, encodeUpdateBatch, type SignedRow } from "./encode-update.js";
import {
  absenteesOf,
  type PackedFault,
  type PackedUpdate,
  packUpdate,
  signedIn,
  unpackUpdate,
} from "./packed-update.js";
import { signReport, ZERO_VALUE } from "./report.js";

/*
 * Packs updates, each with its content, and changes them so that each has one fault, for forge tests that do the same.
 * After a change of the format, `npx vitest run protocol -u` rewrites the file.
 */
const FILE = "../vectors/packed-updates.json";

const accounts = Array.from({ length: 13 }, (_, i) => privateKeyToAccount(numberToHex(i + 1, { size: 32 }))).toSorted(
  (a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1),
);
const chainId = 42;
const dataset: Address = "0xD0fCe56b6e915fbB54aCF9521ebCc9270D50088F";
const round = 1_790_000_000n;
const SPOT_KEY = stringToHex("SPOTPX/ETH-USD");
/** The longest key, of the Web Oracle. */
const LONG_KEY = stringToHex(`WEB/${"0a".repeat(32)}/`.padEnd(256, "argument-"));

const word = (value: bigint | number) => numberToHex(value, { size: 32 });
/** The smallest value of this width in bytes. */
const wide = (width: number) => word(width === 0 ? 0n : 1n << BigInt(8 * width - 1));

interface Setting {
  readonly kind: DatasetKind;
  readonly key: Hex;
  readonly committee: Committee;
}
const settingOf = (members: number, kind: DatasetKind, toleranceBps = 100n, key = SPOT_KEY): Setting => ({
  kind,
  key,
  committee: { members: accounts.slice(0, members).map(({ address }) => address), toleranceBps },
});

/** Packs what members signed about a key, in the committee's order; null is an absentee. */
async function packOne(
  { kind, key, committee }: Setting,
  said: readonly (Hex | null)[],
  outcome: "OK" | "NOT_AVAILABLE",
) {
  const header = { chainId, dataset, key, round };
  const reports = said.map(async (value, i) => {
    const account = accounts[i] as (typeof accounts)[number];
    return value === null
      ? []
      : [{ provider: account.address, value, signature: await signReport(account, { ...header, outcome, value }) }];
  });
  return encodeUpdate(kind, header, committee, outcome, (await Promise.all(reports)).flat());
}

/** Packs what members signed about several keys; null among the values is "no data". */
async function packMany({ kind, committee }: Setting, keys: readonly Hex[], said: readonly ((Hex | null)[] | null)[]) {
  const header = { chainId, dataset, keys, round };
  const rows = said.map(async (row, i): Promise<SignedRow[]> => {
    if (row === null) return [];
    const account = accounts[i] as (typeof accounts)[number];
    const values = row.map((value) => value ?? ZERO_VALUE);
    const missing = row.reduce((bits, value, index) => (value === null ? bits | (1n << BigInt(index)) : bits), 0n);
    return [
      {
        provider: account.address,
        missing,
        values,
        signature: await signBatchReport(account, { ...header, missing, values }),
      },
    ];
  });
  return encodeUpdateBatch(kind, header, committee, (await Promise.all(rows)).flat());
}

const keysOf = (count: number) => Array.from({ length: count }, (_, i) => stringToHex(`SPOTPX/T${i}-USD`));

/** What every vector has, so that a forge test can deploy the dataset that it is for. */
const deployment = ({ kind, key, committee }: Setting) => ({
  isMedian: kind === "median",
  keyForm: key === LONG_KEY ? 1 : 0,
  chainId,
  dataset,
  members: committee.members,
  toleranceBps: Number(committee.toleranceBps),
  timestamp: Number(round),
});

const contentOf = (packed: Hex): PackedUpdate => {
  const unpacked = unpackUpdate(packed);
  if (!unpacked.ok) throw new Error(unpacked.error.name);
  return unpacked.value;
};

/** One bit for each member that signed, in a word. */
const signersIn = ({ members }: PackedUpdate) =>
  word(members.reduce((bits, member, i) => (typeof member === "string" ? bits : bits | (1n << BigInt(i))), 0n));

async function one(
  name: string,
  setting: Setting,
  said: readonly (Hex | null)[],
  outcome: "OK" | "NOT_AVAILABLE" = "OK",
) {
  const packed = await packOne(setting, said, outcome);
  const content = contentOf(packed) as PackedUpdate & { kind: "update" };
  const signed = signedIn(content.members);
  return {
    name,
    ...deployment(setting),
    packed,
    kind: outcome === "OK" ? 1 : 2,
    key: content.key,
    signers: signersIn(content),
    claim: content.value,
    values: signed.map(({ value }) => value),
    r: signed.map(({ r }) => r),
    vs: signed.map(({ vs }) => vs),
    absentees: absenteesOf(content),
  };
}

async function many(name: string, setting: Setting, said: readonly ((Hex | null)[] | null)[]) {
  const keys = keysOf(said.find((row) => row !== null)?.length ?? 0);
  const packed = await packMany(setting, keys, said);
  const content = contentOf(packed) as PackedUpdate & { kind: "batch" };
  const rows = signedIn(content.members);
  return {
    name,
    ...deployment(setting),
    packed,
    kind: 3,
    keys,
    keyHashes: content.keyHashes,
    picks: concatHex(content.picks.map((pick) => numberToHex(pick, { size: 1 }))),
    signers: signersIn(content),
    missing: rows.map(({ missing }) => word(missing)),
    values: rows.flatMap(({ values }) => values),
    r: rows.map(({ r }) => r),
    vs: rows.map(({ vs }) => vs),
    absentees: absenteesOf(content),
  };
}

const ETHER = 10n ** 18n;
const prices = (count: number) => Array.from({ length: count }, (_, i) => word(3000n * ETHER + BigInt(i)));
const absent = (count: number): null[] => Array.from({ length: count }, () => null);
const lowest = (text: string) => stringToHex(text, { size: 32 });

const ONE = settingOf(1, "median");
const FOUR = settingOf(4, "median");
const FOUR_WORDS = settingOf(4, "majority", 0n);
const THIRTEEN = settingOf(13, "median", 10_000n);

test("the updates that are packed here are those of the vectors", async () => {
  const updates = [
    await one("1 of 1", ONE, prices(1)),
    await one("3 of 4, whose claimed value is one member's", FOUR, [...prices(3), null]),
    await one("4 of 4, with values of 0, 1, 10 and 26 bytes", FOUR, [0, 1, 10, 26].map(wide)),
    await one("3 of 4, all of them 0", FOUR, [ZERO_VALUE, ZERO_VALUE, null, ZERO_VALUE]),
    await one("3 of 4, with the claimed value twice", FOUR, [wide(2), null, wide(2), wide(1)]),
    await one("9 of 13", THIRTEEN, [...prices(5), null, ...prices(4), ...absent(3)]),
    await one("13 of 13, most of them the claimed value", THIRTEEN, [...Array(9).fill(wide(10)), ...prices(4)]),
    await one("a majority of 32 bytes that repeats", FOUR_WORDS, [
      lowest("sunny"),
      lowest("rain"),
      lowest("sunny"),
      lowest("sunny"),
    ]),
    await one("no majority of 32 bytes", FOUR_WORDS, [lowest("sunny"), lowest("rain"), lowest("snow"), null]),
    await one("the longest key", settingOf(4, "median", 100n, LONG_KEY), [null, ...prices(3)]),
    await one("no data, 1 of 1", ONE, [ZERO_VALUE], "NOT_AVAILABLE"),
    await one("no data, 3 of 4", FOUR, [ZERO_VALUE, null, ZERO_VALUE, ZERO_VALUE], "NOT_AVAILABLE"),
    await one("no data, 9 of 13", THIRTEEN, [...absent(4), ...Array(9).fill(ZERO_VALUE)], "NOT_AVAILABLE"),
    await one("no data, the longest key", settingOf(1, "median", 0n, LONG_KEY), [ZERO_VALUE], "NOT_AVAILABLE"),
  ];
  const batches = [
    await many("1 of 1, one key", ONE, [prices(1)]),
    await many("3 of 4, with rows of different widths", FOUR, [
      [wide(0), wide(10), wide(26)],
      [wide(1), wide(2), null],
      null,
      [wide(0), wide(0), wide(0)],
    ]),
    await many("3 of 4, with missing bits", FOUR, [
      null,
      [null, wide(10), wide(1)],
      [null, wide(10), null],
      [null, wide(9), wide(1)],
    ]),
    await many("3 of 4, all of them without data", FOUR, [[null, null], [null, null], [null, null], null]),
    await many("9 of 13, nine keys", THIRTEEN, [
      ...absent(2),
      ...Array.from({ length: 9 }, (_, i) => [...prices(8), i % 4 === 0 ? null : wide(1)]),
      ...absent(2),
    ]),
    await many("majorities of 32 bytes", FOUR_WORDS, [
      [lowest("sunny"), lowest("a")],
      [lowest("sunny"), lowest("b")],
      [lowest("rain"), lowest("b")],
      [lowest("sunny"), null],
    ]),
  ];
  const faults = await faulty();
  const json = JSON.stringify({ updates, batches, faults }, null, 2);
  await expect(`${json}\n`).toMatchFileSnapshot(FILE);
});

/** Replaces bytes at an offset by others. */
function replaced(packed: Hex, offset: number, count: number, bytes: Hex): Hex {
  const at = 2 + 2 * offset;
  return `${packed.slice(0, at)}${bytes.slice(2)}${packed.slice(at + 2 * count)}` as Hex;
}
const cut = (packed: Hex, length: number): Hex => sliceHex(packed, 0, length);

/** Lists packed updates of which each has one fault. The offsets are those of the format, for a key of 14 bytes. */
async function faulty() {
  const values = await packOne(FOUR, [...prices(3), null], "OK");
  const noData = await packOne(FOUR, [ZERO_VALUE, ZERO_VALUE, ZERO_VALUE, null], "NOT_AVAILABLE");
  const batch = await packMany(FOUR, keysOf(3), [prices(3), prices(3), prices(3), null]);
  const price = (at: number) => `0x${(prices(3)[at] as Hex).slice(-18)}` as Hex;
  const long: Hex = `0x21${"01".repeat(33)}`;
  const width = size(price(0));
  const [signers, claim] = [25, 26];
  const first = claim + 1 + width;
  const second = first + 1 + width + 64;
  const row = 111;
  const rowValues = row + 2;
  const whole = size(values);
  const repeated = concatHex(["0x09", price(1)]);
  const wider = concatHex(["0x00", price(0), "0x00", price(1), "0x00", price(2)]);
  const faults: [string, Hex, number, PackedFault["name"], ...number[]][] = [
    ["no bytes", "0x", 1, "WrongKind", 0, 1],
    ["kind 0", replaced(values, 0, 1, "0x00"), 1, "WrongKind", 0, 1],
    ["an unknown kind", replaced(values, 0, 1, "0x04"), 1, "WrongKind", 4, 1],
    ["an update of no data among values", noData, 1, "WrongKind", 2, 1],
    ["a batch among values", batch, 1, "WrongKind", 3, 1],
    ["a header that is cut off", cut(values, 10), 1, "WrongLength", 10, 11],
    ["a key that is cut off", cut(values, 24), 1, "WrongLength", 24, 25],
    ["a bitmap that is missing", cut(values, signers), 1, "WrongLength", signers, signers + 1],
    ["a last byte that is missing", cut(values, whole - 1), 1, "WrongLength", whole - 1, whole],
    ["an absentee that is missing", cut(values, whole - 20), 1, "WrongLength", whole - 20, whole],
    ["a byte behind the last item", concatHex([values, "0x00"]), 1, "WrongLength", whole + 1, whole],
    ["a committee without its last member", replaced(values, 8, 1, "0x03"), 1, "WrongLength", whole, whole - 20],
    ["a signer behind the last member", replaced(values, signers, 1, "0x17"), 1, "UnusedBits", 0x17, 4],
    ["a signer in the last bit", replaced(values, signers, 1, "0x87"), 1, "UnusedBits", 0x87, 4],
    ["a claimed value of 33 bytes", replaced(values, claim, 1 + width, long), 1, "TooLong", 33, 32],
    ["a claimed value that is the claimed value", replaced(values, claim, 1 + width, "0xff"), 1, "TooLong", 255, 32],
    ["a claimed value with a leading zero", replaced(values, claim, 1, "0x0a00"), 1, "LeadingZero", claim],
    ["a claimed 0 of one byte", replaced(values, claim, 1 + width, "0x0100"), 1, "LeadingZero", claim],
    ["a value of 33 bytes", replaced(values, first, 1 + width, long), 1, "TooLong", 33, 32],
    ["a value of 254 bytes", replaced(values, first, 1, "0xfe"), 1, "TooLong", 254, 32],
    ["a value with a leading zero", replaced(values, first, 1, "0x0a00"), 1, "LeadingZero", first],
    ["a 0 of one byte", replaced(values, first, 1 + width, "0x0100"), 1, "LeadingZero", first],
    ["a claimed value that a member repeats", replaced(values, second, 1, repeated), 1, "RepeatedClaim", second],
    ["values among no data", values, 2, "WrongKind", 1, 2],
    ["no data whose key is cut off", cut(noData, 24), 2, "WrongLength", 24, 25],
    ["no data without its last byte", cut(noData, size(noData) - 1), 2, "WrongLength", size(noData) - 1, size(noData)],
    ["no data with a byte too many", concatHex([noData, "0x00"]), 2, "WrongLength", size(noData) + 1, size(noData)],
    ["no data with a signer behind the last member", replaced(noData, signers, 1, "0x27"), 2, "UnusedBits", 0x27, 4],
    ["values among batches", values, 3, "WrongKind", 1, 3],
    ["a batch of 257 keys", replaced(batch, 9, 2, "0x0101"), 3, "TooManyKeys", 257, 256],
    ["a batch without its last byte", cut(batch, size(batch) - 1), 3, "WrongLength", size(batch) - 1, size(batch)],
    ["a batch with a byte too many", concatHex([batch, "0x00"]), 3, "WrongLength", size(batch) + 1, size(batch)],
    ["a batch with a signer behind the last member", replaced(batch, row - 1, 1, "0x17"), 3, "UnusedBits", 0x17, 4],
    ["a row with a bit behind the last key", replaced(batch, row + 1, 1, "0x08"), 3, "UnusedBits", 8, 3],
    ["a row of 33 bytes for each value", replaced(batch, row, 1, "0x21"), 3, "TooLong", 33, 32],
    ["a row that claims", replaced(batch, row, 1, "0xff"), 3, "TooLong", 255, 32],
    ["a row of 33 bytes with a bit behind the last key", replaced(batch, row, 2, "0x2108"), 3, "UnusedBits", 8, 3],
    [
      "a row that is wider than its values",
      replaced(replaced(batch, rowValues, 3 * width, wider), row, 1, "0x0a"),
      3,
      "LeadingZero",
      row,
    ],
    [
      "a row of zeros that has a width",
      replaced(replaced(batch, rowValues, 3 * width, "0x000000"), row, 1, "0x01"),
      3,
      "LeadingZero",
      row,
    ],
  ];
  return faults.map(([name, packed, kind, error, ...args]) => ({
    name,
    ...deployment(FOUR),
    packed,
    kind,
    error,
    args,
  }));
}

test("the faults of the vectors are refused by their names and values", async () => {
  for (const { name, packed, kind, error, args } of await faulty()) {
    const unpacked = unpackUpdate(packed);
    const found = Number(packed.slice(0, 4));
    // Whatever is packed well is of another function then, and only the contract knows which kind it expects.
    const fault = unpacked.ok ? { name: "WrongKind", args: [BigInt(found)] } : unpacked.error;
    const expected = fault.name === "WrongKind" ? [BigInt(kind)] : [];
    expect({ error: fault.name, args: [...fault.args, ...expected] }, name).toEqual({ error, args: args.map(BigInt) });
  }
});

describe("packUpdate", () => {
  const [a, b] = [numberToHex(0xa1, { size: 20 }), numberToHex(0xb2, { size: 20 })];
  const signature = { r: word(0x11), vs: word(0x22) };
  const header = { round, toleranceBps: 100n };

  test("writes the header, the key, the signers, the claim, and what each member signed", () => {
    const members = [{ value: word(0x1234), ...signature }, a, { value: word(0x05), ...signature }, b];
    const update: PackedUpdate = {
      kind: "update",
      ...header,
      key: "0x616263",
      outcome: "OK",
      value: word(0x05),
      members,
    };
    expect(packUpdate(update)).toBe(
      concatHex([
        "0x01",
        "0x006ab13b80",
        "0x0064",
        "0x04",
        "0x0003",
        "0x616263",
        "0x05",
        "0x0105",
        concatHex(["0x021234", word(0x11), word(0x22)]),
        a,
        concatHex(["0xff", word(0x11), word(0x22)]),
        b,
      ]),
    );
  });

  test("writes signatures only where there is no data", () => {
    const members = [a, { value: ZERO_VALUE, ...signature }];
    const update: PackedUpdate = {
      kind: "update",
      ...header,
      key: "0x61",
      outcome: "NOT_AVAILABLE",
      value: ZERO_VALUE,
      members,
    };
    expect(packUpdate(update)).toBe(concatHex(["0x02006ab13b8000640200016102", a, word(0x11), word(0x22)]));
  });

  test("writes a row's width, missing bits, values and signature", () => {
    const row = { missing: 0b100000001n, values: [1, 0, 0x1234, 4, 5, 6, 7, 8, 0].map(word), ...signature };
    const [keyHashes, picks] = [row.values.map((value) => value), [0, 0, 0, 0, 0, 0, 0, 0, 254]];
    expect(packUpdate({ kind: "batch", ...header, keyHashes, picks, members: [row] })).toBe(
      concatHex([
        "0x03006ab13b800064010009",
        ...keyHashes,
        "0x0000000000000000fe",
        "0x01",
        "0x020101",
        "0x000100001234000400050006000700080000",
        word(0x11),
        word(0x22),
      ]),
    );
  });
});

const bytes = (min: number, max = min) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((content) => bytesToHex(content));
/** Small values and widths are as frequent as large ones. */
const anyValue = fc
  .integer({ min: 0, max: 32 })
  .chain((width) => bytes(width))
  .map((value) => padHex(value, { size: 32 }));
const anyMembers = <T>(signed: fc.Arbitrary<T>, max: number) =>
  fc.array(fc.oneof(bytes(20).map(getAddress), signed), { maxLength: max });
const anyHeader = { round: fc.bigInt(0n, 2n ** 40n - 1n), toleranceBps: fc.bigInt(0n, 2n ** 16n - 1n) };
const anySignature = { r: bytes(32), vs: bytes(32) };
/** Members often sign the claimed value. */
const anyValues = anyValue.chain((value) =>
  fc.record({
    kind: fc.constant("update" as const),
    ...anyHeader,
    key: bytes(0, 300),
    outcome: fc.constant("OK" as const),
    value: fc.constant(value),
    members: anyMembers(fc.record({ value: fc.oneof(fc.constant(value), anyValue), ...anySignature }), 255),
  }),
);
const anyNoData = fc.record({
  kind: fc.constant("update" as const),
  ...anyHeader,
  key: bytes(0, 300),
  outcome: fc.constant("NOT_AVAILABLE" as const),
  value: fc.constant(ZERO_VALUE),
  members: anyMembers(fc.record({ value: fc.constant(ZERO_VALUE), ...anySignature }), 255),
});
const anyBatch = fc.integer({ min: 0, max: 40 }).chain((keys) => {
  const ofEach = <T>(each: fc.Arbitrary<T>) => fc.array(each, { minLength: keys, maxLength: keys });
  const row = { missing: fc.bigInt(0n, 2n ** BigInt(keys) - 1n), values: ofEach(anyValue), ...anySignature };
  return fc.record({
    kind: fc.constant("batch" as const),
    ...anyHeader,
    keyHashes: ofEach(bytes(32)),
    picks: ofEach(fc.integer({ min: 0, max: 255 })),
    members: anyMembers(fc.record(row), 20),
  });
});
const anyUpdate: fc.Arbitrary<PackedUpdate> = fc.oneof(anyValues, anyNoData, anyBatch);

describe("unpackUpdate", () => {
  test("returns what packUpdate packed", () => {
    fc.assert(
      fc.property(anyUpdate, (update) => {
        expect(unpackUpdate(packUpdate(update))).toEqual({ ok: true, value: update });
      }),
    );
  });

  test("accepts nothing but what packUpdate returns", () => {
    const change = fc.record({ at: fc.nat(), removed: fc.integer({ min: 0, max: 2 }), inserted: bytes(0, 2) });
    const isHeader = fc.boolean();
    let accepted = 0;
    fc.assert(
      fc.property(anyUpdate, change, isHeader, (update, { at, removed, inserted }, early) => {
        const packed = packUpdate(update);
        const changed = replaced(packed, at % (early ? 60 : size(packed)), removed, inserted);
        const unpacked = unpackUpdate(changed);
        if (!unpacked.ok) return;
        accepted += 1;
        expect(packUpdate(unpacked.value)).toBe(changed);
      }),
      { numRuns: 1000 },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  test("reads the hex digits of both cases", () => {
    const update = {
      kind: "update",
      round,
      toleranceBps: 0n,
      key: "0xabcd",
      outcome: "OK",
      value: word(0xef),
      members: [],
    } as const;
    const packed = packUpdate(update);
    expect(unpackUpdate(`0x${packed.slice(2).toUpperCase()}`)).toEqual({ ok: true, value: update });
  });

  test("refuses more keys than a batch can have", () => {
    const batchOf = (keys: number) => ({
      kind: "batch" as const,
      round,
      toleranceBps: 0n,
      keyHashes: Array.from({ length: keys }, (_, i) => word(i)),
      picks: Array.from({ length: keys }, () => 0),
      members: [],
    });
    expect(unpackUpdate(packUpdate(batchOf(256)))).toEqual({ ok: true, value: batchOf(256) });
    expect(unpackUpdate(packUpdate(batchOf(257)))).toEqual({
      ok: false,
      error: { name: "TooManyKeys", args: [257n, 256n] },
    });
  });
});
