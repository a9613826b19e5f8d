import { concatHex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { rankByRendezvousHash } from "../rendezvous-hashing.js";
import type { TransactionQueue } from "./queue.js";
import { queueForKey } from "./queue-for-key.js";

const addressOf = (i: number) => numberToHex(i, { size: 20 });
const senders = [1, 2, 3].map(addressOf);
const queues = senders.map((address) => ({ address }) as unknown as TransactionQueue);

test("a data point is sent by the sender that ranks first for its dataset and key", () => {
  const dataPoints = Array.from({ length: 25 }, (_, i) => [addressOf(i % 5), numberToHex(i)] as const);
  for (const [dataset, key] of dataPoints) {
    const [first] = rankByRendezvousHash(concatHex([dataset, key]), senders);
    expect(queueForKey({ chainId: 1, queues }, dataset, key).address).toBe(first);
  }
});
