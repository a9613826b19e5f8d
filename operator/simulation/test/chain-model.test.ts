import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { clientOf } from "@dataset-oracle/devnet/test-support/chain-client";
import { deployTestDataset } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { simulateQueries } from "@dataset-oracle/protocol/client/simulate-queries";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { type Address, type Hex, parseEventLogs, stringToHex } from "viem";
import { expect, test } from "vitest";
import type { RecordedChain } from "../src/recorded-chain.js";
import { runPlan } from "../src/run-plan.js";

/** The account whose first contract has the address of the simulated dataset, so that signatures hold on both chains. */
const DEPLOYER: Address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
/** More than any update takes: the model's gas is not the EVM's. */
const GAS = 2_000_000n;

test.each([
  { seed: 3, only: "reorganization" },
  { seed: 13, only: "provider" },
  { seed: 16, only: "never-mined" },
])("updates that seed $seed mined under $only leave the same statuses, events and values on anvil", async (plan) => {
  const recordTo = join(mkdtempSync(join(tmpdir(), "recorded-chain-")), "chain.json");
  await runPlan({ ...plan, minutes: 8 }, { recordTo });
  const { members, blocks, points } = JSON.parse(readFileSync(recordTo, "utf8")) as RecordedChain;
  const updates = blocks.flatMap(({ transactions }) => transactions);
  expect(updates.length).toBeGreaterThan(20);
  expect(updates.map(({ outcome }) => outcome)).toContain("stored");
  expect(Math.max(...updates.map(({ events }) => events.length))).toBeGreaterThan(1);

  const first = blocks[0]?.timestamp ?? 0;
  const { url, close } = await startAnvil({ chainId: 42, blockTime: null, timestamp: first - 10 });
  closeAtEnd(close);
  expect(await deployTestDataset(url, { owner: DEPLOYER, members })).toBe(DATASET);
  const client = clientOf(url);
  await client.setAutomine(false);
  for (const { timestamp, transactions } of blocks) {
    const hashes: Hex[] = [];
    for (const { data } of transactions)
      hashes.push(await client.sendTransaction({ account: DEPLOYER, to: DATASET, data, gas: GAS, chain: null }));
    await client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) });
    await client.mine({ blocks: 1 });
    for (const [index, hash] of hashes.entries()) {
      const { status, logs } = await client.getTransactionReceipt({ hash });
      const events = parseEventLogs({ abi: datasetAbi, eventName: "Updated", logs }).map(({ args }) => ({
        ...{ keyHash: args.keyHash, value: args.value, round: String(args.timestamp), status: args.status },
      }));
      const { outcome, events: modelled } = transactions[index] ?? {};
      expect({ outcome: status === "reverted", events }).toEqual({ outcome: outcome === "reverted", events: modelled });
    }
  }
  const keys = points.map(({ key }) => stringToHex(key));
  const stored = await simulateQueries(client, { dataset: DATASET, keys, blockTag: "latest" });
  expect(stored.map(({ output, updatedAt, status }) => [output, String(updatedAt), status])).toEqual(
    points.map(({ value, round, status }) => [value, round, QUERY_STATUSES[status] ?? "INVALID"]),
  );
});
