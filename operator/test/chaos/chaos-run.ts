import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Choices, seededChoices } from "@dataset-oracle/tools/seeded-random";
import type { Address, Hex } from "viem";
import { type Chain, startChain } from "../support/chain.js";
import { type CallFault, type FaultProxy, startFaultProxy } from "../support/fault-proxy.js";
import { startProviders } from "../support/stub-providers.js";
import { AcknowledgedUpdates } from "./acknowledged-updates.js";
import { FaultInjector, planFaults } from "./fault-injector.js";
import { type FleetOperator, type Memory, MemoryWatch, startFleet } from "./fleet.js";

export interface ChaosSettings {
  readonly seed: number;
  readonly requests: number;
  readonly keys: number;
  /** Called now and then with the number of answered requests. */
  readonly onProgress?: (answered: number) => void;
}

/** The result of a chaos run. */
export interface ChaosResult {
  /** Injected faults by kind. All were survived if the rest of the result is as it must be. */
  readonly faults: Readonly<Record<string, number>>;
  /** Answers by kind: `sent`, `prepared`, the code of a problem, or `no answer` while an operator was away. */
  readonly answers: Readonly<Record<string, number>>;
  /** Updates that were answered with a hash and of which the chain has neither the round nor a newer one. */
  readonly lost: readonly string[];
  /** Such updates that the chain dropped after their process had ended, when no process knew of them. */
  readonly forgotten: number;
  /**
   * The final counts by sender: `latest` equals `pending` when nothing is pending, and `queued` is 0 when no gap is
   * left.
   */
  readonly nonces: readonly { readonly latest: number; readonly pending: number; readonly queued: number }[];
  /** Keys whose timestamp on the chain decreased. */
  readonly wentBack: readonly string[];
  /** Feeds that are older than the operators may let them become. */
  readonly staleFeeds: readonly string[];
  readonly memory: Memory;
  readonly seconds: number;
}

const OPERATORS = 3;
const MAX_AT_ONCE = 12;
const FEEDS = Array.from({ length: 8 }, (_, i) => `SPOTPX/F${i}-USD`);
const HEARTBEAT_SECONDS = 20;
/** Long enough for a transaction to be dropped while it is pending. */
const BLOCK_SECONDS = 1;
const STAGE_SECONDS = 2.5;
const BEAT_SECONDS = 2;
/**
 * Allows the heartbeat and the stages up to the last operator, twice: updates themselves can fail, and a stage in which no
 * new block is seen is waited for once more.
 */
const STALE_SECONDS = 2 * (HEARTBEAT_SECONDS + 2 * OPERATORS * STAGE_SECONDS);
const QUIET_MS = 120_000;

const NETWORK_FAULTS: readonly [CallFault, ...CallFault[]] = [
  "dropped",
  "delayed",
  "reset in the answer",
  "HTTP error",
  "accepted, then silent",
];
const NODE_FAULTS: readonly [CallFault, ...CallFault[]] = [...NETWORK_FAULTS, "error in a node's words", "stale head"];

/**
 * Sends requests to three real operators on a real chain, while every connection between them, the chain and the providers'
 * stand-ins fails now and then. The seed decides what fails, and when. It does not decide the timing, so two runs with
 * one seed are alike but not identical.
 */
export async function runChaos(settings: ChaosSettings): Promise<ChaosResult> {
  const startedAt = Date.now();
  const closers: (() => Promise<unknown> | unknown)[] = [];
  try {
    const [chain, providers] = await Promise.all([startChain(42, undefined, BLOCK_SECONDS), startProviders(4)]);
    closers.push(() => chain.close(), ...providers.map((provider) => () => provider.close()));
    const dataset = await chain.deploy(providers.map(({ address }) => address));
    // These blocks keep reorganizations from reaching the deployment.
    await chain.client.mine({ blocks: 8 });
    const faults: Record<string, number> = {};
    const proxy = (upstream: string, name: "RPC" | "provider", stream: number) =>
      startFaultProxy(upstream, {
        random: seededChoices(settings.seed, stream),
        faults: name === "RPC" ? NODE_FAULTS : NETWORK_FAULTS,
        ...{ tally: faults, name },
      });
    const rpcProxies = await Promise.all([0, 1].map((i) => proxy(chain.url, "RPC", 100 + i)));
    const providerProxies = await Promise.all(providers.map(({ url }, i) => proxy(url, "provider", 200 + i)));
    const proxies = [...rpcProxies, ...providerProxies];
    closers.push(...proxies.map((one) => () => one.close()));

    const folder = mkdtempSync(join(tmpdir(), "chaos-"));
    const policy = { heartbeatSeconds: HEARTBEAT_SECONDS, stageMs: STAGE_SECONDS * 1000, beatSeconds: BEAT_SECONDS };
    const operators = await startFleet({
      ...{ seed: settings.seed, size: OPERATORS, chain, dataset, providers, rpcProxies, providerProxies },
      ...{ feeds: FEEDS, ...policy, folder },
    });
    closers.push(
      ...operators.map(
        ({ process }) =>
          () =>
            process.end("SIGTERM"),
      ),
    );

    const run = new ChaosRun(settings, chain, dataset, operators, faults);
    setFaults(rpcProxies, providerProxies);
    await run.run();
    for (const one of proxies) one.faultRate = 0;
    return { ...(await run.confirm()), seconds: Math.round((Date.now() - startedAt) / 1000) };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** Makes the preferred RPC endpoint the worse one. */
function setFaults([first, ...others]: readonly FaultProxy[], providers: readonly FaultProxy[]): void {
  if (first !== undefined) first.faultRate = 0.1;
  for (const proxy of [...others, ...providers]) proxy.faultRate = 0.04;
}

class ChaosRun {
  readonly #random: Choices;
  readonly #acknowledged: AcknowledgedUpdates;
  readonly #injector: FaultInjector;
  readonly #memory: MemoryWatch;

  constructor(
    private readonly settings: ChaosSettings,
    private readonly chain: Chain,
    private readonly dataset: Address,
    private readonly operators: readonly FleetOperator[],
    private readonly faults: Record<string, number>,
  ) {
    this.#random = seededChoices(settings.seed, 0);
    this.#acknowledged = new AcknowledgedUpdates(chain, dataset);
    this.#injector = new FaultInjector(chain, operators, this.#acknowledged, seededChoices(settings.seed, 1), faults);
    this.#memory = new MemoryWatch(operators);
  }

  async run(): Promise<void> {
    const { requests, onProgress } = this.settings;
    const planned = planFaults(requests, seededChoices(this.settings.seed, 2));
    let next = 0;
    const work = async () => {
      for (let i = next++; i < requests; i = next++) {
        const fault = planned.get(i);
        if (fault !== undefined) this.#injector.inject(fault);
        await this.#ask(await this.#anyOperator());
        if (i % 20 === 0) this.#memory.sample();
        if (i % 500 === 499) onProgress?.(i + 1);
      }
    };
    const all = Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, Math.ceil(requests / 10)) }, work));
    await Promise.race([all.then(() => this.#injector.finished()), this.#injector.failed]);
  }

  /** Picks an operator that is up, and waits while there is none. */
  async #anyOperator(): Promise<FleetOperator> {
    for (;;) {
      const up = this.operators.filter(({ process }) => process.isUp);
      const one = up[this.#random.below(up.length)];
      if (one !== undefined) return one;
      await delay(50);
    }
  }

  async #ask(operator: FleetOperator): Promise<void> {
    const { starts, url } = operator.process;
    const key = `SPOTPX/K${this.#random.below(this.settings.keys)}-USD`;
    const broadcast = this.#random.next() < 0.85;
    const body = JSON.stringify({ network_id: 42, dataset: this.dataset, key, broadcast });
    const headers = { "content-type": "application/json" };
    try {
      const signal = AbortSignal.timeout(60_000);
      const response = await fetch(`${url}/data/request`, { method: "POST", headers, body, signal });
      const answer = (await response.json()) as { code?: string; transaction_hash?: Hex | null; timestamp: number };
      this.#acknowledged.count(
        response.ok ? (broadcast ? "sent" : "prepared") : (answer.code ?? String(response.status)),
      );
      const { transaction_hash: hash, timestamp: round } = answer;
      if (response.ok && hash) this.#acknowledged.add({ key, round, hash, operator, starts, at: Date.now() });
    } catch {
      this.#acknowledged.count("no answer");
      await delay(100);
    }
  }

  /** Waits, after the faults have ended, until everything is as it must be or the time is up. */
  async confirm(): Promise<Omit<ChaosResult, "seconds">> {
    const giveUpAt = Date.now() + QUIET_MS;
    for (;;) {
      const [{ lost, forgotten }, nonces, staleFeeds] = await Promise.all([
        this.#acknowledged.missing(),
        Promise.all(this.operators.map(({ sender }) => this.#nonces(sender))),
        this.#staleFeeds(),
      ]);
      const isQuiet = lost.length === 0 && staleFeeds.length === 0 && !nonces.some(isBusy);
      if (!isQuiet && Date.now() < giveUpAt) {
        await delay(1_000);
        continue;
      }
      return {
        faults: this.faults,
        answers: this.#acknowledged.answers,
        lost: lost.map(
          ({ key, round, hash, operator, starts }) => `${key} ${round} ${hash} ${operator.name} start ${starts}`,
        ),
        forgotten: forgotten.length,
        nonces,
        wentBack: await this.#acknowledged.wentBack(),
        staleFeeds,
        memory: this.#memory.report(),
      };
    }
  }

  async #nonces(address: Address): Promise<ChaosResult["nonces"][number]> {
    const { client } = this.chain;
    const [latest, pending, content] = await Promise.all([
      client.getTransactionCount({ address, blockTag: "latest" }),
      client.getTransactionCount({ address, blockTag: "pending" }),
      client.getTxpoolContent(),
    ]);
    const queued = Object.entries(content.queued).flatMap(([sender, all]) =>
      sender.toLowerCase() === address.toLowerCase() ? Object.keys(all) : [],
    );
    return { latest, pending, queued: queued.length };
  }

  async #staleFeeds(): Promise<readonly string[]> {
    const now = Date.now() / 1000;
    const dataPoints = await Promise.all(
      FEEDS.map(async (key) => ({ key, ...(await this.chain.query(this.dataset, key)) })),
    );
    return dataPoints.flatMap(({ key, updatedAt }) => (now - Number(updatedAt) > STALE_SECONDS ? [key] : []));
  }
}

/** Returns true while a sender has pending or queued transactions. */
function isBusy({ latest, pending, queued }: ChaosResult["nonces"][number]): boolean {
  return latest !== pending || queued > 0;
}
