import { setTimeout as delay } from "node:timers/promises";
import { parseGwei } from "viem";
import type { Chain } from "../support/chain.js";
import type { Tally } from "./fault-proxy.js";
import type { Replica } from "./fleet.js";
import type { Ledger } from "./ledger.js";
import type { Random } from "./random.js";

/** By kind, one fault of the chain's or of a process in so many requests. */
const ONE_IN = {
  reorganisation: 140,
  "dropped from the pool": 140,
  "fee spike": 150,
  SIGKILL: 150,
  "replica away": 150,
} as const;

export type Blow = keyof typeof ONE_IN;

export const BLOWS = Object.keys(ONE_IN) as readonly Blow[];

/** Which blow falls at which request. Processes end only in the first two thirds, so that memory is seen to stay flat. */
export function planBlows(requests: number, random: Random): ReadonlyMap<number, Blow> {
  const blows = new Map<number, Blow>();
  for (const blow of BLOWS) {
    const endsProcess = blow === "SIGKILL" || blow === "replica away";
    const end = endsProcess ? Math.floor((requests * 2) / 3) : requests - 5;
    for (let left = Math.max(1, Math.round(requests / ONE_IN[blow])); left > 0; ) {
      const at = 10 + random.below(end - 10);
      if (blows.has(at)) continue;
      blows.set(at, blow);
      left--;
    }
  }
  return blows;
}

/** What happens to the chain and to the processes, one after the other, beside the requests. */
export class Blows {
  #last: Promise<void> = Promise.resolve();
  #fail: (error: unknown) => void = () => {};
  /** Rejects with what went wrong with a blow itself: the storm is worth nothing then. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(
    private readonly chain: Chain,
    private readonly replicas: readonly Replica[],
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly tally: Tally,
  ) {}

  strike(blow: Blow): void {
    this.#last = this.#last.then(async () => {
      try {
        if (await this.#happens(blow)) this.tally[blow] = (this.tally[blow] ?? 0) + 1;
      } catch (error) {
        this.#fail(new Error(`The storm could not do this: ${blow}`, { cause: error }));
      }
    });
  }

  /** Once all that were struck have happened. */
  over(): Promise<void> {
    return this.#last;
  }

  /** @returns False when there was nothing that it could happen to. */
  async #happens(blow: Blow): Promise<boolean> {
    const { client } = this.chain;
    switch (blow) {
      case "fee spike":
        await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(String(5 + this.random.below(60))) });
        return true;
      case "reorganisation":
        await this.#reorganise(1 + this.random.below(3));
        await this.#setClock();
        return true;
      case "dropped from the pool":
        return this.#drop();
      case "SIGKILL":
        return this.#end("SIGKILL", 0);
      case "replica away":
        return this.#end("SIGTERM", 1_000 + this.random.below(5_000));
    }
  }

  /** anvil refuses about one in a hundred, with "Resource not found" and no other reason: it is asked again. */
  async #reorganise(blocks: number): Promise<void> {
    this.ledger.reorganised();
    const ask = () => this.chain.client.request({ method: "anvil_reorg", params: [blocks, []] } as never);
    await ask().catch(() => delay(500).then(ask));
  }

  /** anvil's clock falls behind by the blocks that it takes back, and stays there. */
  async #setClock(): Promise<void> {
    const { timestamp } = await this.chain.client.getBlock({ blockTag: "latest" });
    const behind = Math.floor(Date.now() / 1000) - Number(timestamp) - 1;
    if (behind > 0) await this.chain.client.increaseTime({ seconds: behind });
  }

  /** Waits a little for one that is pending. What only an ended process knew is left alone. */
  async #drop(): Promise<boolean> {
    for (let tries = 0; tries < 100; tries++) {
      const recent = this.ledger.recent(20);
      const one = recent[this.random.below(recent.length)];
      const transaction = one && (await this.chain.client.getTransaction({ hash: one.hash }).catch(() => null));
      if (one && transaction?.blockNumber === null) {
        await this.chain.client.dropTransaction({ hash: one.hash });
        return true;
      }
      await delay(50);
    }
    return false;
  }

  async #end(signal: "SIGKILL" | "SIGTERM", awayMs: number): Promise<boolean> {
    const replica = this.replicas[this.random.below(this.replicas.length)];
    if (replica === undefined) return false;
    const { life } = replica.process;
    const ending = replica.process.end(signal);
    const endedAt = Date.now();
    await ending;
    await this.ledger.ended(replica, life, endedAt);
    await delay(awayMs);
    await replica.process.start();
    return true;
  }
}
