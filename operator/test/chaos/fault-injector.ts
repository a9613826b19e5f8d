import { setTimeout as delay } from "node:timers/promises";
import type { Choices } from "@dataset-oracle/tools/seeded-random";
import { parseGwei } from "viem";
import type { Chain } from "../support/chain.js";
import type { AcknowledgedUpdates } from "./acknowledged-updates.js";
import type { FleetOperator } from "./fleet.js";

/** One fault of each kind is injected per this many requests. */
const ONE_IN = {
  reorganization: 140,
  "dropped from the pool": 140,
  "fee spike": 150,
  SIGKILL: 150,
  "operator away": 150,
} as const;

export type Fault = keyof typeof ONE_IN;

export const FAULTS = Object.keys(ONE_IN) as readonly Fault[];

/** Assigns faults to requests. Processes end only in the first two thirds, so that memory is seen to stay flat. */
export function planFaults(requests: number, random: Choices): ReadonlyMap<number, Fault> {
  const planned = new Map<number, Fault>();
  for (const fault of FAULTS) {
    const endsProcess = fault === "SIGKILL" || fault === "operator away";
    const end = endsProcess ? Math.floor((requests * 2) / 3) : requests - 5;
    for (let left = Math.max(1, Math.round(requests / ONE_IN[fault])); left > 0; ) {
      const at = 10 + random.below(end - 10);
      if (planned.has(at)) continue;
      planned.set(at, fault);
      left--;
    }
  }
  return planned;
}

/** Injects faults into the chain and the processes, one after the other, while requests go on. */
export class FaultInjector {
  #last: Promise<void> = Promise.resolve();
  #fail: (error: unknown) => void = () => {};
  /** Rejects when a fault cannot be injected, because the run proves nothing then. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(
    private readonly chain: Chain,
    private readonly operators: readonly FleetOperator[],
    private readonly acknowledged: AcknowledgedUpdates,
    private readonly random: Choices,
    private readonly tally: Record<string, number>,
  ) {}

  inject(fault: Fault): void {
    this.#last = this.#last.then(async () => {
      try {
        if (await this.#apply(fault)) this.tally[fault] = (this.tally[fault] ?? 0) + 1;
      } catch (error) {
        this.#fail(new Error(`The fault could not be injected: ${fault}`, { cause: error }));
      }
    });
  }

  /** Resolves when every injected fault has been applied. */
  finished(): Promise<void> {
    return this.#last;
  }

  /** @returns False when there was nothing to apply it to. */
  async #apply(fault: Fault): Promise<boolean> {
    const { client } = this.chain;
    switch (fault) {
      case "fee spike":
        await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(String(5 + this.random.below(60))) });
        return true;
      case "reorganization":
        await this.#reorganize(1 + this.random.below(3));
        await this.#setClock();
        return true;
      case "dropped from the pool":
        return this.#drop();
      case "SIGKILL":
        return this.#end("SIGKILL", 0);
      case "operator away":
        return this.#end("SIGTERM", 1_000 + this.random.below(5_000));
    }
  }

  /**
   * Asks again for up to five seconds, because anvil refuses about one in a hundred with "Resource not found" and no
   * other reason, and goes on to refuse it until there are further blocks.
   */
  async #reorganize(blocks: number): Promise<void> {
    this.acknowledged.reorganized();
    const ask = () => this.chain.client.request({ method: "anvil_reorg", params: [blocks, []] } as never);
    for (let left = 10; left > 0; left--) {
      const isDone = await ask().then(
        () => true,
        () => false,
      );
      if (isDone) return;
      await delay(500);
    }
    await ask();
  }

  /** Corrects anvil's clock, which falls behind by the removed blocks and stays there. */
  async #setClock(): Promise<void> {
    const { timestamp } = await this.chain.client.getBlock({ blockTag: "latest" });
    const behind = Math.floor(Date.now() / 1000) - Number(timestamp) - 1;
    if (behind > 0) await this.chain.client.increaseTime({ seconds: behind });
  }

  /** Drops a pending transaction, after a short wait for one. Those that only an ended process knew are left alone. */
  async #drop(): Promise<boolean> {
    for (let tries = 0; tries < 100; tries++) {
      const recent = this.acknowledged.recent(20);
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
    const operator = this.operators[this.random.below(this.operators.length)];
    if (operator === undefined) return false;
    const { starts } = operator.process;
    const ending = operator.process.end(signal);
    const endedAt = Date.now();
    await ending;
    await this.acknowledged.ended(operator, starts, endedAt);
    await delay(awayMs);
    await operator.process.start();
    return true;
  }
}
