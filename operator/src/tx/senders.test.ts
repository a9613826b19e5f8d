import fc from "fast-check";
import { type Address, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import type { TransactionQueue } from "./queue.js";
import { Senders } from "./senders.js";

const queue = (i: number) => ({ address: numberToHex(i + 1, { size: 20 }) }) as unknown as TransactionQueue;
const dataset: Address = numberToHex(7, { size: 20 });
const keys: Hex[] = Array.from({ length: 300 }, (_, i) => numberToHex(i, { size: 8 }));
const addressesOf = (senders: Senders) => keys.map((key) => senders.queueFor(dataset, key).address);

test("a key has the same sender, in whatever order the senders are listed", () => {
  const count = fc.integer({ min: 1, max: 8 });
  fc.assert(
    fc.property(count, (n) => {
      const queues = Array.from({ length: n }, (_, i) => queue(i));
      const [first, ...rest] = queues;
      const [last, ...others] = queues.toReversed();
      if (!first || !last) throw new Error("There is none.");
      expect(addressesOf(new Senders([first, ...rest]))).toEqual(addressesOf(new Senders([last, ...others])));
    }),
    { seed: 1, numRuns: 8 },
  );
});

test("keys are spread evenly, and only those of a removed sender move", () => {
  const before = addressesOf(new Senders([queue(0), queue(1), queue(2)]));
  const after = addressesOf(new Senders([queue(0), queue(1)]));
  for (const i of [0, 1, 2]) {
    expect(before.filter((address) => address === queue(i).address).length).toBeGreaterThan(60);
  }
  before.forEach((address, i) => {
    if (address !== queue(2).address) expect(after[i]).toBe(address);
  });
});
