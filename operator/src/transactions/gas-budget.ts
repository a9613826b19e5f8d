import type { Clock } from "@dataset-oracle/service/process/context";

const HOUR_MS = 3_600_000;

/** A budget has too little gas left for a new task. `isShareSpent`: only the caller's share of it is used up. */
export interface GasRefusal {
  readonly ok: false;
  readonly isShareSpent: boolean;
  readonly retryAfterSeconds: number;
}

/**
 * What a budget pays for one task. The task has one nonce at a time: `hold` reserves the most that the present one can
 * use, and `settle` ends it with what it has used. A budget refuses only new tasks: a task that has a nonce is charged,
 * even into debt, and what comes next waits until the debt is an hour old.
 */
export interface GasCharge {
  /**
   * Reserves what is known now of a task in place of what was expected.
   *
   * @returns Null, or why the budget refuses the task: then nothing is reserved.
   */
  readonly confirm: (gas: bigint) => GasRefusal | null;
  /** Raises what the present nonce can use to at least `gas`, whatever is left. */
  readonly hold: (gas: bigint) => void;
  /** The present nonce has used this, as a node says, and no more; 0 if nothing of it is or will be mined. */
  readonly settle: (gas: bigint) => void;
}

/** What a nonce can use, or has used. */
interface NonceUse {
  /** In milliseconds, by the monotonic clock. */
  readonly at: number;
  gas: bigint;
  /** Null for a feed. */
  readonly payer: string | null;
}

export interface GasBudgetSettings {
  /** In units of gas. */
  readonly perHour: bigint;
  /** The share of one caller: by default all of it. */
  readonly percentPerCaller?: number;
}

/**
 * Limits the gas used in any hour, as a sliding window, and the share of each caller in it. A nonce counts with its gas
 * limit, the most that it can use, until it is known what it has used.
 */
export class GasBudget {
  /** Ordered by time. */
  readonly #entries = new Set<NonceUse>();
  #total = 0n;
  /** The gas of each payer that has an entry, and of the feeds. */
  readonly #byPayer = new Map<NonceUse["payer"], bigint>();
  readonly #share: bigint;

  readonly #perHour: bigint;

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    { perHour, percentPerCaller = 100 }: GasBudgetSettings,
  ) {
    this.#perHour = perHour;
    this.#share = (perHour * BigInt(percentPerCaller)) / 100n;
  }

  /**
   * Admits a new task. A caller that has used no gas may have one transaction even if it needs more than the caller's
   * share.
   *
   * @param expected The gas that it is expected to use.
   * @param payer Null for a feed, whose share is the whole budget.
   */
  admit(expected: bigint, payer: string | null = null): { readonly ok: true; readonly charge: GasCharge } | GasRefusal {
    const refusal = this.#refusalOf(expected, payer);
    if (refusal !== null) return refusal;
    const charge = this.open(payer);
    charge.hold(expected);
    return { ok: true, charge };
  }

  /** Begins to charge what nobody asked for now: updates of an earlier process, and the repair of nonce gaps. */
  open(payer: string | null = null): GasCharge {
    let entry: NonceUse | null = null;
    /** The most that the present nonce can use. */
    let most = 0n;
    const set = (gas: bigint) => {
      this.#forgetOld();
      // Where an entry has left the window, its nonce is charged anew.
      if (entry !== null && !this.#entries.has(entry)) entry = null;
      if (entry === null && gas > 0n) {
        entry = { at: this.clock.monotonic(), gas: 0n, payer };
        this.#entries.add(entry);
      }
      if (entry === null) return;
      this.#count(entry, gas - entry.gas);
      entry.gas = gas;
      if (gas === 0n) this.#entries.delete(entry);
    };
    const held = () => (entry !== null && this.#entries.has(entry) ? entry.gas : 0n);
    return {
      confirm: (gas) => {
        set(0n);
        entry = null;
        const refusal = this.#refusalOf(gas, payer);
        most = refusal === null ? gas : 0n;
        set(most);
        return refusal;
      },
      hold: (gas) => {
        if (gas > most) most = gas;
        if (gas > held()) set(gas);
      },
      settle: (gas) => {
        set(gas < most ? gas : most);
        entry = null;
        most = 0n;
      },
    };
  }

  #refusalOf(gas: bigint, payer: string | null): GasRefusal | null {
    this.#forgetOld();
    const excess = this.#total + gas - this.#perHour;
    if (excess > 0n) return { ok: false, isShareSpent: false, ...this.#waitFor(excess, () => true) };
    const own = payer === null ? undefined : this.#byPayer.get(payer);
    const ownExcess = own === undefined ? 0n : own + gas - this.#share;
    if (ownExcess <= 0n) return null;
    return { ok: false, isShareSpent: true, ...this.#waitFor(ownExcess, (entry) => entry.payer === payer) };
  }

  /** Returns the part of the budget that is used or reserved: 1 if all is, more in debt; 0 for a budget of nothing. */
  get usedRatio(): number {
    this.#forgetOld();
    return this.#perHour === 0n ? 0 : Number(this.#total) / Number(this.#perHour);
  }

  #forgetOld(): void {
    const oldest = this.clock.monotonic() - HOUR_MS;
    for (const entry of this.#entries) {
      if (entry.at > oldest) break;
      this.#entries.delete(entry);
      this.#count(entry, -entry.gas);
    }
  }

  /** Finds out when enough of some entries will have left to free `excess`; an hour if all are not enough. */
  #waitFor(excess: bigint, counts: (entry: NonceUse) => boolean): { readonly retryAfterSeconds: number } {
    const nowMs = this.clock.monotonic();
    let left = excess;
    for (const entry of this.#entries) {
      if (!counts(entry)) continue;
      left -= entry.gas;
      if (left <= 0n) return { retryAfterSeconds: Math.max(1, Math.ceil((entry.at + HOUR_MS - nowMs) / 1000)) };
    }
    return { retryAfterSeconds: HOUR_MS / 1000 };
  }

  #count({ payer }: NonceUse, gas: bigint): void {
    this.#total += gas;
    const own = (this.#byPayer.get(payer) ?? 0n) + gas;
    if (own === 0n) this.#byPayer.delete(payer);
    else this.#byPayer.set(payer, own);
  }
}
