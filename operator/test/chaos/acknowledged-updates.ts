import type { Address, Hex } from "viem";
import type { Chain } from "../support/chain.js";
import type { FleetOperator } from "./fleet.js";

/** An update that was answered with a hash. */
export interface AcknowledgedUpdate {
  readonly key: string;
  /** Seconds since 1970. */
  readonly round: number;
  readonly hash: Hex;
  readonly operator: FleetOperator;
  /** How many times its process had been started. */
  readonly starts: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The dataset refuses a round that is older. */
const MAX_ROUND_AGE_MS = 300_000;

/** Compares the answers with the chain. */
export class AcknowledgedUpdates {
  readonly answers: Record<string, number> = {};
  readonly #updates: AcknowledgedUpdate[] = [];
  readonly #endedAt = new Map<string, number>();
  readonly #reorgs: number[] = [];
  /** Transactions of ended processes that the chain no longer showed. */
  readonly #unseen = new Set<Hex>();

  constructor(
    private readonly chain: Chain,
    private readonly dataset: Address,
  ) {}

  /** @param answer `sent`, `prepared`, the code of a problem, or `no answer`. */
  count(answer: string): void {
    this.answers[answer] = (this.answers[answer] ?? 0) + 1;
  }

  add(update: AcknowledgedUpdate): void {
    this.#updates.push(update);
  }

  reorganized(): void {
    this.#reorgs.push(Date.now());
  }

  /** Returns the last updates that were acknowledged by processes that still run. */
  recent(count: number): readonly AcknowledgedUpdate[] {
    return this.#updates
      .filter(({ operator, starts }) => operator.process.starts === starts && operator.process.isUp)
      .slice(-count);
  }

  /** Notes the transactions of an ended process that no process knows any more. */
  async ended(operator: FleetOperator, starts: number, at: number): Promise<void> {
    this.#endedAt.set(`${operator.name} ${starts}`, at);
    const itsUpdates = this.#updates.filter((one) => one.operator === operator && one.starts === starts);
    for (const { hash } of itsUpdates.filter((one) => at - one.at < 60_000)) {
      const isShown = await this.chain.client.getTransaction({ hash }).catch(() => null);
      if (isShown === null) this.#unseen.add(hash);
    }
  }

  /** Returns the acknowledged updates of which the chain has neither the round nor a newer one. */
  async missing(): Promise<{
    readonly lost: readonly AcknowledgedUpdate[];
    readonly forgotten: readonly AcknowledgedUpdate[];
  }> {
    const newest = new Map<string, number>();
    for (const key of new Set(this.#updates.map(({ key }) => key))) {
      newest.set(key, Number((await this.chain.query(this.dataset, key)).updatedAt));
    }
    const missing = this.#updates.filter(({ key, round }) => (newest.get(key) ?? 0) < round);
    const isForgotten = (one: AcknowledgedUpdate) => this.#isForgotten(one);
    return { lost: missing.filter((one) => !isForgotten(one)), forgotten: missing.filter(isForgotten) };
  }

  /**
   * Returns true if an ended process had sent it and the chain dropped it, so that no process was left to send it
   * again.
   */
  #isForgotten({ hash, operator, starts, at }: AcknowledgedUpdate): boolean {
    const endedAt = this.#endedAt.get(`${operator.name} ${starts}`);
    if (endedAt === undefined) return false;
    return this.#unseen.has(hash) || this.#reorgs.some((when) => when > endedAt && when - at < MAX_ROUND_AGE_MS);
  }

  /** Returns the keys whose time did not go forward on the chain, with both transactions. */
  async wentBack(): Promise<string[]> {
    const newest = new Map<Hex, { readonly timestamp: bigint; readonly text: string }>();
    const found: string[] = [];
    for (const { keyHash = "0x", timestamp = 0n, transactionHash, blockHash } of await this.chain.updates(
      this.dataset,
    )) {
      const before = newest.get(keyHash);
      const text = `${timestamp} by ${transactionHash}`;
      const isForward = timestamp > (before?.timestamp ?? 0n);
      // After a reorganization anvil can list the events of a block that it has dropped.
      if (!isForward && !(await this.#isMinedIn(transactionHash, blockHash))) continue;
      if (!isForward) found.push(`${keyHash}: ${text} after ${before?.text}`);
      newest.set(keyHash, { timestamp, text });
    }
    return found;
  }

  async #isMinedIn(hash: Hex, blockHash: Hex): Promise<boolean> {
    const receipt = await this.chain.client.getTransactionReceipt({ hash }).catch(() => null);
    return receipt?.blockHash === blockHash;
  }
}
