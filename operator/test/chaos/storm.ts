import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@dataset-oracle/devnet/anvil";
import { type Address, type Hex, keccak256, numberToHex, parseEther, parseGwei } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { type Chain, startChain } from "../support/chain.js";
import { startProviders } from "../support/providers.js";
import { type FaultProxy, startFaultProxy, type Tally } from "./fault-proxy.js";
import { type OperatorProcess, startOperatorProcess } from "./operator-process.js";
import { type Random, randomOf } from "./random.js";

export interface StormSettings {
  readonly seed: number;
  readonly requests: number;
  readonly keys: number;
}

/** What came of a storm. */
export interface StormReport {
  /** Faults by kind, all of them survived when the rest of the report is as it must be. */
  readonly faults: Tally;
  /** Answers by what they were: `sent`, `prepared`, the code of a problem, or `no answer` while the operator was away. */
  readonly answers: Tally;
  /** Updates that were answered with a hash and of which the chain has neither the round nor a newer one. */
  readonly lost: readonly string[];
  /** The same, of killed processes, where the chain had dropped them when nobody remembered them. */
  readonly droppedAfterKill: number;
  /** The sender's counts at the end; the same when nothing is pending and no gap is left. */
  readonly nonces: { readonly latest: number; readonly pending: number; readonly queued: number };
  /** Keys whose time went back on the chain. */
  readonly wentBack: readonly string[];
  /** In megabytes: the most that any process had; the longest-living one after a third of its life, and at its end. */
  readonly rss: { readonly most: number; readonly early: number; readonly end: number };
  readonly seconds: number;
}

interface Promised {
  readonly key: string;
  readonly round: number;
  readonly hash: Hex;
  readonly life: number;
  readonly at: number;
}

/** By kind, one fault of the chain's or of the process in so many requests. */
const ONE_IN = { reorganisation: 140, "dropped from the pool": 140, "fee spike": 150, SIGKILL: 150 } as const;
type Blow = keyof typeof ONE_IN;

const AT_ONCE = 12;
const QUIET_MS = 120_000;
/** After that a round is too old for the dataset. */
const MAX_ROUND_AGE_MS = 300_000;

/**
 * Requests against a real operator process on a real chain, between which and the providers' stand-ins everything fails
 * now and then. What fails, and when, comes from the seed; the clock does not, so that two runs are alike and not the same.
 */
export async function runStorm(settings: StormSettings): Promise<StormReport> {
  const begun = Date.now();
  const closers: (() => Promise<unknown> | unknown)[] = [];
  try {
    const [chain, providers] = await Promise.all([startChain(), startProviders(4)]);
    closers.push(() => chain.close(), ...providers.map((provider) => () => provider.close()));
    const dataset = await chain.deploy(providers.map(({ address }) => address));
    const faults: Tally = {};
    const proxies = await startProxies(chain, providers, settings.seed, faults);
    closers.push(...proxies.all.map((proxy) => () => proxy.close()));

    const privateKey = keccak256(numberToHex(settings.seed + 1, { size: 32 }));
    const sender = privateKeyToAccount(privateKey).address;
    await chain.client.setBalance({ address: sender, value: parseEther("1000000") });
    const folder = mkdtempSync(join(tmpdir(), "chaos-"));
    closers.push(() => rmSync(folder, { recursive: true }));
    const port = await freePort();
    const config = writeConfig(folder, port, dataset, proxies, providers);
    const operator = await startOperatorProcess(config, port, privateKey);
    closers.push(() => operator.close());

    const storm = new Storm(settings, chain, dataset, sender, operator, `http://127.0.0.1:${port}`, faults);
    for (const proxy of proxies.all) proxy.faultRate = proxy === proxies.all[0] ? 0.1 : 0.04;
    await storm.rage();
    for (const proxy of proxies.all) proxy.faultRate = 0;
    return { ...(await storm.settle()), seconds: Math.round((Date.now() - begun) / 1000) };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

interface Proxies {
  readonly all: readonly FaultProxy[];
  readonly rpcs: readonly FaultProxy[];
  readonly providers: readonly FaultProxy[];
}

async function startProxies(
  chain: Chain,
  providers: readonly { readonly url: string }[],
  seed: number,
  tally: Tally,
): Promise<Proxies> {
  const rpcs = await Promise.all(
    [0, 1].map((i) => {
      const random = randomOf(seed, 100 + i);
      const faults = [
        ...(["dropped", "delayed", "reset in the answer", "HTTP error"] as const),
        ...(["error in a node's words", "accepted, then silent", "stale head"] as const),
      ] as const;
      return startFaultProxy(chain.url, { random, tally, name: "RPC", faults });
    }),
  );
  const ofProviders = await Promise.all(
    providers.map(({ url }, i) => {
      const random = randomOf(seed, 200 + i);
      const faults = ["dropped", "delayed", "reset in the answer", "HTTP error", "accepted, then silent"] as const;
      return startFaultProxy(url, { random, tally, name: "provider", faults });
    }),
  );
  return { all: [...rpcs, ...ofProviders], rpcs, providers: ofProviders };
}

function writeConfig(
  folder: string,
  port: number,
  dataset: Address,
  proxies: Proxies,
  providers: readonly { readonly address: Address }[],
): string {
  const financial = { address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: [] };
  writeFileSync(join(folder, "42.json"), JSON.stringify({ chainId: 42, datasets: { financial } }));
  const network = {
    deployment: "42.json",
    rpcUrls: proxies.rpcs.map(({ url }) => url),
    providers: providers.map(({ address }, i) => ({ address, url: proxies.providers[i]?.url })),
    gasPerHour: Number.MAX_SAFE_INTEGER,
    gasPerHourForNewKeys: Number.MAX_SAFE_INTEGER,
    ...{ rpcTimeoutMs: 1_500, rpcPollMs: 300, providerTimeoutMs: 1_000, graceMs: 200, stuckSeconds: 5 },
  };
  const path = join(folder, "operator.json");
  writeFileSync(
    path,
    JSON.stringify({ port, requestsPerMinute: 1_000_000, broadcastsPerMinute: 1_000_000, networks: [network] }),
  );
  return path;
}

class Storm {
  readonly #promised: Promised[] = [];
  readonly #killedAt = new Map<number, number>();
  readonly #reorgs: number[] = [];
  /** What killed processes had sent and the chain did not show any more. */
  readonly #unseen = new Set<Hex>();
  readonly #answers: Tally = {};
  readonly #rss: { life: number; bytes: number }[] = [];
  #blow: Promise<void> = Promise.resolve();

  constructor(
    private readonly settings: StormSettings,
    private readonly chain: Chain,
    private readonly dataset: Address,
    private readonly sender: Address,
    private readonly operator: OperatorProcess,
    private readonly base: string,
    private readonly faults: Tally,
  ) {}

  async rage(): Promise<void> {
    const random = randomOf(this.settings.seed, 0);
    const blows = planBlows(this.settings.requests, random);
    let next = 0;
    const work = async () => {
      for (let i = next++; i < this.settings.requests; i = next++) {
        const blow = blows.get(i);
        // One after the other, beside the requests.
        if (blow !== undefined) this.#blow = this.#blow.then(() => this.#strike(blow, random));
        while (!this.operator.isUp) await delay(50);
        await this.#ask(random);
        if (i % 20 === 0 && this.operator.isUp)
          this.#rss.push({ life: this.operator.life, bytes: this.operator.rss() });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await this.#blow;
  }

  async #ask(random: Random): Promise<void> {
    const { life } = this.operator;
    const key = `SPOTPX/K${random.below(this.settings.keys)}-USD`;
    const broadcast = random.next() < 0.85;
    const body = JSON.stringify({ network_id: 42, dataset: this.dataset, key, broadcast });
    const headers = { "content-type": "application/json" };
    try {
      const signal = AbortSignal.timeout(60_000);
      const response = await fetch(`${this.base}/data/request`, { method: "POST", headers, body, signal });
      const answer = (await response.json()) as { code?: string; transaction_hash?: Hex | null; timestamp: number };
      this.#count(response.ok ? (broadcast ? "sent" : "prepared") : (answer.code ?? String(response.status)));
      const { transaction_hash: hash, timestamp: round } = answer;
      if (response.ok && hash) this.#promised.push({ key, round, hash, life, at: Date.now() });
    } catch {
      this.#count("no answer");
      await delay(100);
    }
  }

  #count(answer: string): void {
    this.#answers[answer] = (this.#answers[answer] ?? 0) + 1;
  }

  async #strike(blow: Blow, random: Random): Promise<void> {
    const { client } = this.chain;
    if (blow === "fee spike") {
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(String(5 + random.below(60))) });
    } else if (blow === "reorganisation") {
      this.#reorgs.push(Date.now());
      await client.request({ method: "anvil_reorg", params: [1 + random.below(3), []] } as never);
      await this.#setClock();
    } else if (blow === "dropped from the pool") {
      if (!(await this.#drop(random))) return;
    } else {
      await this.#kill();
    }
    this.faults[blow] = (this.faults[blow] ?? 0) + 1;
  }

  /** anvil's clock falls behind by the blocks that it takes back, and stays there. */
  async #setClock(): Promise<void> {
    const { timestamp } = await this.chain.client.getBlock({ blockTag: "latest" });
    const behind = Math.floor(Date.now() / 1000) - Number(timestamp) - 1;
    if (behind > 0) await this.chain.client.increaseTime({ seconds: behind });
  }

  /** @returns Whether there was one: waits for it a little. What only a killed process knew is left alone. */
  async #drop(random: Random): Promise<boolean> {
    for (let tries = 0; tries < 100; tries++) {
      const ours = this.#promised.filter(({ life }) => life === this.operator.life).slice(-20);
      const one = ours[random.below(ours.length)];
      const transaction = one && (await this.chain.client.getTransaction({ hash: one.hash }).catch(() => null));
      if (one && transaction && transaction.blockNumber === null) {
        await this.chain.client.dropTransaction({ hash: one.hash });
        return true;
      }
      await delay(50);
    }
    return false;
  }

  async #kill(): Promise<void> {
    const { life } = this.operator;
    const killed = this.operator.kill();
    this.#killedAt.set(life, Date.now());
    await killed;
    for (const { hash, at } of this.#promised.filter((one) => one.life === life && Date.now() - one.at < 60_000)) {
      const isShown = await this.chain.client.getTransaction({ hash }).catch(() => null);
      if (isShown === null && at < (this.#killedAt.get(life) ?? 0)) this.#unseen.add(hash);
    }
  }

  /** The faults are over: waits until everything is as it must be, or will not be. */
  async settle(): Promise<Omit<StormReport, "seconds">> {
    const giveUpAt = Date.now() + QUIET_MS;
    let missing = await this.#missing();
    let nonces = await this.#nonces();
    while ((missing.some((one) => !this.#isForgotten(one)) || isBusy(nonces)) && Date.now() < giveUpAt) {
      await delay(1_000);
      [missing, nonces] = [await this.#missing(), await this.#nonces()];
    }
    const lost = missing.filter((one) => !this.#isForgotten(one));
    const lives = this.#rss.filter(({ life }) => life === this.operator.life).map(({ bytes }) => bytes);
    const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
    return {
      faults: this.faults,
      answers: this.#answers,
      lost: lost.map(({ key, round, hash, life }) => `${key} ${round} ${hash} life ${life} of ${this.operator.life}`),
      droppedAfterKill: missing.length - lost.length,
      nonces,
      wentBack: await this.#wentBack(),
      rss: {
        most: megabytes(Math.max(...this.#rss.map(({ bytes }) => bytes))),
        early: megabytes(lives[Math.floor(lives.length / 3)] ?? 0),
        end: megabytes(this.operator.rss()),
      },
    };
  }

  async #missing(): Promise<readonly Promised[]> {
    const newest = new Map<string, number>();
    const keys = [...new Set(this.#promised.map(({ key }) => key))];
    await Promise.all(
      keys.map(async (key) => newest.set(key, Number((await this.chain.query(this.dataset, key)).updatedAt))),
    );
    return this.#promised.filter(({ key, round }) => (newest.get(key) ?? 0) < round);
  }

  /** What a killed process had sent, and the chain dropped before or after the kill: nobody was left to know of it. */
  #isForgotten({ hash, life, at }: Promised): boolean {
    const killedAt = this.#killedAt.get(life);
    if (killedAt === undefined) return false;
    return this.#unseen.has(hash) || this.#reorgs.some((when) => when > killedAt && when - at < MAX_ROUND_AGE_MS);
  }

  async #nonces(): Promise<StormReport["nonces"]> {
    const { client } = this.chain;
    const [latest, pending, content] = await Promise.all([
      client.getTransactionCount({ address: this.sender, blockTag: "latest" }),
      client.getTransactionCount({ address: this.sender, blockTag: "pending" }),
      client.getTxpoolContent(),
    ]);
    const queued = Object.entries(content.queued).flatMap(([address, all]) =>
      address.toLowerCase() === this.sender.toLowerCase() ? Object.keys(all) : [],
    );
    return { latest, pending, queued: queued.length };
  }

  async #wentBack(): Promise<string[]> {
    const newest = new Map<Hex, bigint>();
    return (await this.chain.updates(this.dataset)).flatMap(({ keyHash = "0x", timestamp = 0n }) => {
      const before = newest.get(keyHash) ?? 0n;
      newest.set(keyHash, timestamp);
      return timestamp > before ? [] : [`${keyHash}: ${timestamp} after ${before}`];
    });
  }
}

/** Kills only in the first two thirds, so that the last process lives long enough to show whether its memory grows. */
function planBlows(requests: number, random: Random): ReadonlyMap<number, Blow> {
  const blows = new Map<number, Blow>();
  for (const [blow, oneIn] of Object.entries(ONE_IN) as [Blow, number][]) {
    const end = blow === "SIGKILL" ? Math.floor((requests * 2) / 3) : requests - 5;
    for (let left = Math.max(1, Math.round(requests / oneIn)); left > 0; ) {
      const at = 10 + random.below(end - 10);
      if (blows.has(at)) continue;
      blows.set(at, blow);
      left--;
    }
  }
  return blows;
}

function isBusy({ latest, pending, queued }: StormReport["nonces"]): boolean {
  return latest !== pending || queued > 0;
}

/** For those who read it. */
export function describeStorm({ seed, requests, keys }: StormSettings, report: StormReport): string {
  const tally = (of: Tally) =>
    Object.entries(of)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`);
  return [
    `${requests} requests on ${keys} keys, seed ${seed}, ${report.seconds} s.`,
    "Faults survived:",
    ...tally(report.faults),
    "Answers:",
    ...tally(report.answers),
    `Lost: ${report.lost.length}. Dropped by the chain after their process was killed: ${report.droppedAfterKill}.`,
    `Nonces: ${report.nonces.latest} mined, ${report.nonces.pending} pending, ${report.nonces.queued} behind a gap.`,
    `Memory: ${report.rss.most} MB at most; the last process ${report.rss.early} MB early, ${report.rss.end} MB at its end.`,
  ].join("\n");
}
