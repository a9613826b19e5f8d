import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { answersRpc } from "@dataset-oracle/devnet/anvil";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { startProcess } from "@dataset-oracle/devnet/start-process";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { type Chain, chainOf } from "../support/chain.js";
import { Member, type NodeOptions } from "./member.js";
import { type Measurement, MinedUpdates } from "./mined-updates.js";
import { type Host, NetworkNamespaces } from "./network-namespaces.js";

/** A node is passed over after this, by default: `stageMs`. */
const STAGE_SECONDS = 2;
/** A round lies this far behind the time at which it begins. */
const BEHIND_SECONDS = 2;
const KEYS = MARKET_PAIRS.slice(0, 2).map(({ pair }) => `SPOTPX/${pair}`);
const RPC_PORT = 8545;
const ENOUGH = 10 ** 15;
const STARTED_MS = 120_000;

export interface NetworkOptions {
  /** The number of members of the committee. Each has a node. */
  readonly size: number;
  /** The number of datasets. Each has rounds of its own. */
  readonly datasets: number;
  readonly heartbeatSeconds: number;
  readonly beatSeconds: number;
  /** The time between blocks; 1 s by default. */
  readonly blockSeconds?: number;
}

/**
 * A committee whose members are on hosts of their own, each with its provider and its node, and a chain that all reach.
 */
export class Network {
  private constructor(
    private readonly options: NetworkOptions,
    readonly namespaces: NetworkNamespaces,
    readonly chain: Chain,
    readonly members: readonly Member[],
    readonly datasets: readonly Address[],
    readonly mined: MinedUpdates,
    private readonly folder: string,
  ) {}

  /** Starts everything, and waits until each feed is stored. */
  static async start(options: NetworkOptions): Promise<Network> {
    const { size, datasets: count, heartbeatSeconds, beatSeconds, blockSeconds = 1 } = options;
    const namespaces = new NetworkNamespaces(size + 1);
    // Temporary files do not outlive the tests, but the logs of a failed one must.
    const folder = mkdtempSync(join(ROOT, "out", "partitions-"));
    try {
      const [chainHost, ...hosts] = namespaces.hosts as [Host, ...Host[]];
      const chain = await startChain(namespaces, chainHost, blockSeconds);
      // A committee is in the order of its members' addresses.
      const keys = hosts.map(() => generatePrivateKey()).toSorted(byAddress);
      const addresses = keys.map((key) => privateKeyToAddress(key));
      const datasets: Address[] = [];
      while (datasets.length < count) datasets.push(await chain.deploy(addresses));
      const deployed = datasets.map((address, i) => {
        return [`feeds${i}`, { address, kind: "median", keyForm: "SPOT_PRICE", keys: KEYS }];
      });
      writeFileSync(join(folder, "42.json"), JSON.stringify({ chainId: 42, datasets: Object.fromEntries(deployed) }));
      // Updates are due a beat, a block and two seconds before the heartbeat, and never earlier.
      const minIntervalSeconds = heartbeatSeconds - beatSeconds - blockSeconds - 2;
      const policy = { heartbeatSeconds, minIntervalSeconds };
      const network = {
        feeds: datasets.map((dataset) => ({ dataset, keys: KEYS, deviationBps: 1_000_000, ...policy })),
        ...{ beatSeconds, rpcPollMs: 500 },
        ...{ gasPerHourForFeeds: ENOUGH, gasPerHour: ENOUGH, gasPerHourForNewKeys: ENOUGH },
      };
      const { subnet } = namespaces;
      const shared = { folder, subnet, network, commandIn: namespaces.commandIn.bind(namespaces) };
      const members = hosts.map((host, i) => {
        return new Member(i, host, [keys[i] ?? "0x", generatePrivateKey()], shared);
      });
      await Promise.all(members.map(({ submitter }) => chain.fund(submitter.address)));
      const mined = new MinedUpdates(chain, datasets, KEYS.length, minIntervalSeconds - BEHIND_SECONDS);
      const started = new Network(options, namespaces, chain, members, datasets, mined, folder);
      await Promise.all(members.map((member) => member.start(started.nodeOptions())));
      await started.#allStored();
      return started;
    } catch (error) {
      namespaces.close();
      throw error;
    }
  }

  /** The greatest age that a feed may have while as many members fail, in seconds. */
  maxAge(failing: number): number {
    const { heartbeatSeconds, blockSeconds = 1 } = this.options;
    return heartbeatSeconds + failing * STAGE_SECONDS + 2 * blockSeconds;
  }

  nodeOptions(options: Partial<NodeOptions> = {}): NodeOptions {
    return {
      rpcUrl: this.chain.url,
      peers: this.members.map(({ peer }) => peer),
      providers: this.members.map(({ provider, providerUrl }) => ({ address: provider.address, url: providerUrl })),
      ...options,
    };
  }

  /** The index of the member's host. The first host is the chain's. */
  hostOf = (member: number): number => member + 1;

  /** Splits members into groups that do not reach each other. All reach the chain. */
  split(...groups: readonly (readonly number[])[]): void {
    this.namespaces.split(...groups.map((group) => group.map(this.hostOf)));
  }

  /** Cuts the members of each pair off from each other, and nobody else. */
  cut(pairs: readonly (readonly [number, number])[]): void {
    this.namespaces.cut(pairs.map(([a, b]) => [this.hostOf(a), this.hostOf(b)]));
  }

  heal(): void {
    this.namespaces.heal();
  }

  /** Waits until every feed has been updated a number of times from now on, and measures that time. */
  async run(times: number, during: () => Promise<unknown> = async () => {}): Promise<Measurement> {
    await this.mined.read();
    const from = this.mined.transactions.length;
    await during();
    const wanted = times * this.datasets.length;
    const giveUpAt = Date.now() + 10_000 + 4 * times * this.options.heartbeatSeconds * 1000;
    for (;;) {
      const measured = await this.mined.measure(from);
      if (measured.needed >= wanted || Date.now() > giveUpAt) return measured;
      await delay(250);
    }
  }

  /** Ends everything. It removes what was written unless asked to keep it. */
  close(keepsLogs = false): void {
    this.namespaces.close();
    if (!keepsLogs) rmSync(this.folder, { recursive: true, force: true });
    else console.log(`The logs are in ${this.folder}.`);
  }

  /** Starts the nodes and providers of all members anew. */
  async restart(optionsOf: (member: Member) => Partial<NodeOptions> = () => ({})): Promise<void> {
    await Promise.all(
      this.members.map(async (member) => {
        const options = this.nodeOptions(optionsOf(member));
        await Promise.all([member.kill("node"), member.kill("provider")]);
        await Promise.all([member.startProvider(options.skewMs), member.startNode(options)]);
      }),
    );
    await this.run(1);
  }

  async #allStored(): Promise<void> {
    const giveUpAt = Date.now() + STARTED_MS;
    while (!this.mined.isComplete) {
      if (Date.now() > giveUpAt) throw new Error(`The feeds are not stored. The logs are in ${this.folder}.`);
      await delay(250);
      await this.mined.read();
    }
  }
}

const byAddress = (a: `0x${string}`, b: `0x${string}`) =>
  BigInt(privateKeyToAddress(a)) < BigInt(privateKeyToAddress(b)) ? -1 : 1;

async function startChain(namespaces: NetworkNamespaces, host: Host, blockSeconds: number): Promise<Chain> {
  const url = `http://${host.address}:${RPC_PORT}`;
  const [command = "", ...args] = namespaces.commandIn(host, [
    foundryBinary("anvil"),
    ...["--host", "0.0.0.0", "--port", String(RPC_PORT), "--chain-id", "42"],
    ...["--block-time", String(blockSeconds), "--prune-history", "256", "--silent"],
  ]);
  const anvil = await startProcess({ name: "anvil", command, args, isReady: () => answersRpc(url) });
  await anvil.ready();
  return chainOf({ url, mode: "anvil", close: () => anvil.close() }, 42);
}
