import fc from "fast-check";
import { type Address, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import type { TransactionQueue } from "./queue.js";
import { queueFor } from "./queue-for-key.js";

const queue = (i: number) => ({ address: numberToHex(i + 1, { size: 20 }) }) as unknown as TransactionQueue;
const dataset: Address = numberToHex(7, { size: 20 });
const keys: Hex[] = Array.from({ length: 300 }, (_, i) => numberToHex(i, { size: 8 }));
const addressesOf = (queues: readonly TransactionQueue[]) =>
  keys.map((key) => queueFor({ chainId: 1, queues }, dataset, key).address);

test("a key has the same sender, in whatever order the senders are listed", () => {
  const count = fc.integer({ min: 1, max: 8 });
  fc.assert(
    fc.property(count, (n) => {
      const queues = Array.from({ length: n }, (_, i) => queue(i));
      expect(addressesOf(queues)).toEqual(addressesOf(queues.toReversed()));
    }),
    { seed: 1, numRuns: 8 },
  );
});

test("keys are spread evenly, and only those of a removed sender move", () => {
  const before = addressesOf([queue(0), queue(1), queue(2)]);
  const after = addressesOf([queue(0), queue(1)]);
  for (const i of [0, 1, 2]) {
    expect(before.filter((address) => address === queue(i).address).length).toBeGreaterThan(60);
  }
  before.forEach((address, i) => {
    if (address !== queue(2).address) expect(after[i]).toBe(address);
  });
});
