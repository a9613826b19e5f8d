import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { createPublicClient, type Hex, http, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Devnet, freePortOptions, startDevnet } from "./devnet-process.js";
import { settingsOf } from "./script-settings.js";

const KEYS = settingsOf(42).financial.keys;

let devnet: Devnet;

beforeAll(async () => {
  devnet = await startDevnet(await freePortOptions());
}, 130_000);

afterAll(() => devnet?.interrupt());

/** Every update of the financial dataset so far, by key. */
async function updates() {
  const client = createPublicClient({ transport: http(devnet.chain) });
  const logs = await client.getContractEvents({
    ...{ address: devnet.dataset, abi: datasetAbi, eventName: "Updated", fromBlock: 0n, strict: true },
  });
  const byKey = new Map<Hex, { timestamp: bigint; status: number; transactionHash: Hex }[]>();
  for (const { args, transactionHash } of logs) {
    const { keyHash, timestamp, status } = args;
    byKey.set(keyHash, [...(byKey.get(keyHash) ?? []), { timestamp, status, transactionHash }]);
  }
  return byKey;
}

test("every data point is updated repeatedly without requests, many in one transaction", async () => {
  const hashes = KEYS.map((key) => keccak256(stringToHex(key)));
  await expect
    .poll(
      async () => {
        const seen = await updates();
        return hashes.filter((hash) => (seen.get(hash)?.length ?? 0) < 2);
      },
      { timeout: 90_000, interval: 1_000 },
    )
    .toEqual([]);

  const seen = await updates();
  for (const hash of hashes) {
    const ofKey = seen.get(hash) ?? [];
    expect(new Set(ofKey.map(({ status }) => status))).toEqual(new Set([1]));
    for (const [i, { timestamp }] of ofKey.slice(1).entries()) {
      const age = Number(timestamp - (ofKey[i]?.timestamp ?? 0n));
      // The bounds are the minimum interval less two seconds, and the heartbeat with a margin for polling and load.
      expect(age).toBeGreaterThanOrEqual(8);
      expect(age).toBeLessThan(60);
    }
  }
  const together = new Map<Hex, number>();
  for (const { transactionHash } of [...seen.values()].flat()) {
    together.set(transactionHash, (together.get(transactionHash) ?? 0) + 1);
  }
  expect(Math.max(...together.values())).toBeGreaterThanOrEqual(5);
}, 120_000);
