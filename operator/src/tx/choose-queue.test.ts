import { concatHex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { rankByRendezvousHash } from "../rendezvous-hashing.js";
import { chooseQueue } from "./choose-queue.js";
import type { TransactionQueue } from "./queue.js";

const addressOf = (i: number) => numberToHex(i, { size: 20 });
const senders = [1, 2, 3].map(addressOf);
const queues = senders.map((address) => ({ address }) as unknown as TransactionQueue);
const dataPoints = Array.from({ length: 25 }, (_, i) => [addressOf(i % 5), numberToHex(i)] as const);

test("a data point is sent by the sender that ranks first for its dataset and key", () => {
  const nodes = { isAlone: true, all: [], own: null };
  for (const [dataset, key] of dataPoints) {
    const [first] = rankByRendezvousHash(concatHex([dataset, key]), senders);
    expect(chooseQueue({ chainId: 1, queues, nodes }, dataset, key).address).toBe(first);
  }
});

test("a node sends every data point from the account by which the other nodes recognize it", () => {
  const own = { provider: addressOf(9), url: "https://own.example", submitter: addressOf(2) };
  const nodes = { isAlone: false, all: [own], own };
  const sentFrom = dataPoints.map(([dataset, key]) => chooseQueue({ chainId: 1, queues, nodes }, dataset, key).address);
  expect(new Set(sentFrom)).toEqual(new Set([own.submitter]));
});
