import { clockOf } from "@dataset-oracle/tools/clock-of";
import { numberToHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import type { PastUpdate } from "../../dataset/update-events.js";
import { createChainClient } from "../../rpc/client.js";
import { RpcError } from "../../rpc/rpc-error.js";
import { PastUpdates } from "./past-updates.js";

/** The newest block. */
let head: number;
/** A block's hash has this in its first byte, from `branch.from` on. */
let branch: { readonly id: number; readonly from: number };
/** The blocks in which something happened, the newest first. */
let happened: number[];
/** The windows that were read. */
let reads: [from: number, to: number][];
let maxLogBlocks: number;
let nowMs: number;
let past: PastUpdates;

const source = {
  id: "stub",
  read: async (from: number, to: number) => {
    reads.push([from, to]);
    nowMs += 1_000;
    if (to - from >= maxLogBlocks) throw new RpcError("refused", 42, "eth_getLogs", "range too large");
    const inWindow = happened.filter((block) => block >= from && block <= to);
    return inWindow.toReversed().map((blockNumber) => ({ blockNumber }) as PastUpdate);
  },
};

function blockOf(number: number) {
  if (number > head) return null;
  const id = number >= branch.from ? branch.id : 0;
  return {
    ...{ number: numberToHex(number), timestamp: "0x1", gasLimit: "0x1" },
    hash: numberToHex((BigInt(id) << 248n) + BigInt(number), { size: 32 }),
  };
}

beforeEach(() => {
  head = 10_000;
  branch = { id: 0, from: 0 };
  happened = [9_990, 9_000, 5_000, 4_990, 100];
  reads = [];
  maxLogBlocks = 3_000;
  nowMs = 0;
  answerTo = (block) => blockOf(block === "latest" ? head : Number(block));
  const request = async (_: string, [block]: readonly unknown[]) => answerTo(block);
  past = new PastUpdates(
    createChainClient(42, { request }),
    clockOf(() => nowMs),
  );
});

/** Answers as the chain does; a test can make it lie. */
let answerTo: (block: unknown) => unknown;

/** Reads a range as a request does, and returns the first block that was searched, and the blocks of the events. */
async function read(from = 0, maxMs = 100_000) {
  const to = await past.readHead();
  const found: number[] = [];
  let searched = to + 1;
  for await (const window of past.backwards(source, { from, to }, maxMs)) {
    searched = window.from;
    found.push(...window.updates.map(({ blockNumber }) => blockNumber));
  }
  return { searched, found };
}

test("old blocks are read once, in windows that later requests find, and the newest ones again", async () => {
  expect(await read()).toEqual({ searched: 0, found: happened });
  expect(reads).toEqual([
    [8_192, 10_000],
    [6_144, 8_191],
    [4_096, 6_143],
    [2_048, 4_095],
    [0, 2_047],
  ]);
  reads = [];
  head = 10_001;
  happened = [10_001, ...happened];
  expect(await read(4_995)).toEqual({ searched: 4_995, found: [10_001, 9_990, 9_000, 5_000] });
  expect(reads).toEqual([[8_192, 10_001]]);
});

test("blocks that the chain may replace are read again even where a window ends", async () => {
  head = 8_192 + 30;
  await read(6_144);
  reads = [];
  head += 1;
  await read(6_144);
  expect(reads).toEqual([
    [8_192, head],
    [6_144, 8_191],
  ]);
});

test("when the chain has replaced blocks that were held, all are read again", async () => {
  await read();
  branch = { id: 1, from: 4_000 };
  head = 10_001;
  happened = [100];
  reads = [];
  expect(await read()).toEqual({ searched: 0, found: [100] });
  expect(reads).toHaveLength(5);
});

test("a window that the node refuses is halved, for later requests too", async () => {
  maxLogBlocks = 600;
  expect((await read(8_192)).found).toEqual([9_990, 9_000]);
  expect(reads.filter(([from, to]) => to - from >= maxLogBlocks)).toHaveLength(2);
  reads = [];
  expect((await read(8_192)).found).toEqual([9_990, 9_000]);
  expect(reads).toEqual([[9_728, 10_000]]);
});

test("windows are as large as before ten seconds after they were refused", async () => {
  maxLogBlocks = 600;
  await read(8_192);
  maxLogBlocks = 3_000;
  reads = [];
  await read(8_192);
  expect(reads).toEqual([[9_728, 10_000]]);
  nowMs += 10_000;
  reads = [];
  await read(6_144);
  expect(reads).toEqual([
    [8_192, 10_000],
    [6_144, 8_191],
  ]);
});

test("a node that has no settled block yet has not replaced it", async () => {
  await read(2_048);
  reads = [];
  head = 9_900;
  await read(2_048);
  expect(reads).toEqual([[8_192, 9_900]]);
});

test("a node that refuses a single block is an error, and other windows stay as large", async () => {
  maxLogBlocks = 0;
  await expect(read()).rejects.toMatchObject({ kind: "refused" });
  maxLogBlocks = 3_000;
  reads = [];
  await read(6_144);
  expect(reads).toHaveLength(2);
});

test("reading ends when it takes too long, and goes on there at the next request", async () => {
  expect(await read(0, 1_500)).toEqual({ searched: 6_144, found: [9_990, 9_000] });
  expect(await read(0, 1_500)).toEqual({ searched: 4_096, found: [9_990, 9_000, 5_000, 4_990] });
});

test("a head that an endpoint invents does not keep later events out", async () => {
  const truth = answerTo;
  answerTo = (block) => {
    const number = numberToHex(block === "latest" ? 1_000_000 : Number(block));
    return { number, timestamp: "0x1", gasLimit: "0x1", hash: numberToHex(7n, { size: 32 }) };
  };
  await past.readHead();
  answerTo = truth;
  expect(await read(9_000)).toMatchObject({ found: [9_990, 9_000] });
  head = 10_001;
  happened = [10_001, ...happened];
  expect(await read(9_000)).toMatchObject({ found: [10_001, 9_990, 9_000] });
});
