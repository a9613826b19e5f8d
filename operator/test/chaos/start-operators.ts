import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type Address, keccak256, numberToHex, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Chain } from "../support/chain.js";
import type { FaultProxy } from "../support/fault-proxy.js";
import { OperatorProcess } from "./operator-process.js";

/** An operator beside one of the providers, with its own sender. */
export interface FleetOperator {
  readonly name: string;
  readonly sender: Address;
  readonly process: OperatorProcess;
}

export interface FleetOptions {
  readonly seed: number;
  readonly size: number;
  readonly chain: Chain;
  readonly dataset: Address;
  readonly providers: readonly { readonly address: Address }[];
  readonly rpcProxies: readonly FaultProxy[];
  readonly providerProxies: readonly FaultProxy[];
  /** The operators keep these keys fresh without requests. */
  readonly feeds: readonly string[];
  readonly heartbeatSeconds: number;
  readonly stageMs: number;
  readonly beatSeconds: number;
  /** The folder into which their configuration is written. */
  readonly folder: string;
}

/** Starts an operator for each of the first `size` providers. */
export async function startFleet(options: FleetOptions): Promise<readonly FleetOperator[]> {
  const { seed, size, folder, dataset, chain } = options;
  const financial = { address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: [] };
  writeFileSync(join(folder, "42.json"), JSON.stringify({ chainId: 42, datasets: { financial } }));
  const keys = Array.from({ length: size }, (_, i) => keccak256(numberToHex(seed * 100 + i + 1, { size: 32 })));
  const senders = keys.map((key) => privateKeyToAccount(key).address);
  for (const address of senders) await chain.client.setBalance({ address, value: parseEther("1000000") });
  const ports = await Promise.all(keys.map(() => freePort()));
  return Promise.all(
    keys.map(async (key, i) => {
      const port = ports[i] ?? 0;
      const process = new OperatorProcess(writeConfig(options, port, i), port, key);
      await process.start();
      return { name: `operator ${i}`, sender: senders[i] ?? "0x", process };
    }),
  );
}

function writeConfig(options: FleetOptions, port: number, i: number): string {
  const { dataset, providers, rpcProxies, providerProxies, folder, feeds } = options;
  const { size, heartbeatSeconds, stageMs, beatSeconds } = options;
  const policy = { heartbeatSeconds, deviationBps: 1_000_000, minIntervalSeconds: heartbeatSeconds };
  const network = {
    deployment: "42.json",
    rpcUrls: rpcProxies.map(({ url }) => url),
    providers: providers.map(({ address }, index) => ({ address, url: providerProxies[index]?.url })),
    feeds: [{ dataset, keys: feeds, ...policy }],
    sender: providers[i]?.address,
    members: providers.slice(0, size).map(({ address }) => address),
    ...{ stageMs, beatSeconds },
    ...{ gasPerHour: 10 ** 15, gasPerHourForNewKeys: 10 ** 15, gasPerHourForFeeds: 10 ** 15 },
    ...{ rpcTimeoutMs: 1_500, rpcPollMs: 300, providerTimeoutMs: 2_500, graceMs: 200, stuckSeconds: 5 },
  };
  const limits = { requestsPerMinute: 1_000_000, broadcastsPerMinute: 1_000_000, newKeysPerMinute: 100_000 };
  const path = join(folder, `operator-${i}.json`);
  writeFileSync(path, JSON.stringify({ port, metricsPort: 0, ...limits, networks: [network] }));
  return path;
}
