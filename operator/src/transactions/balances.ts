import type { Context } from "@dataset-oracle/service/process/context";
import { type Address, formatEther, parseGwei } from "viem";
import { getBalance } from "viem/actions";
import type { ChainClient } from "../rpc/client.js";
import { SingleFlight } from "../single-flight.js";

/** The balance of one sender. */
export interface Balance {
  readonly sender: Address;
  /** Null when it cannot be read. */
  readonly wei: bigint | null;
  readonly isLow: boolean;
}

/** How long a balance is shown without being read again: anonymous callers may ask whether the operator is ready. */
const REMEMBER_MS = 5_000;

/** Reads the balances of a network's senders, and logs once when one is low, and once when it no longer is. */
export class SenderBalances {
  readonly #readings: SingleFlight<Balance>;
  /** The senders whose balance was low when it was last read. */
  readonly #low = new Set<Address>();

  constructor(
    private readonly client: ChainClient,
    private readonly senders: readonly Address[],
    private readonly context: Pick<Context, "clock" | "logger">,
    private readonly settings: { readonly lowBalanceGwei: number },
  ) {
    this.#readings = new SingleFlight(context.clock, { rememberMs: REMEMBER_MS });
  }

  read(): Promise<Balance[]> {
    const read = (sender: Address) => this.#readings.run(sender, () => this.#read(sender)).result;
    return Promise.all(this.senders.map((sender) => read(sender).catch(() => ({ sender, wei: null, isLow: false }))));
  }

  async #read(sender: Address): Promise<Balance> {
    const { lowBalanceGwei } = this.settings;
    const wei = await getBalance(this.client, { address: sender });
    const isLow = isLowBalance(wei, lowBalanceGwei);
    const fields = { sender, balanceEther: Number(formatEther(wei)) };
    if (isLow && !this.#low.has(sender)) {
      this.#low.add(sender);
      this.context.logger.warn(
        { ...fields, lowBalanceGwei },
        wei === 0n
          ? "the sender's balance is zero: fund it, because it cannot pay for transactions"
          : "the sender's balance is low: fund it, or it cannot pay for transactions",
      );
    } else if (!isLow && this.#low.delete(sender)) {
      this.context.logger.info(fields, "the sender's balance is no longer low");
    }
    return { sender, wei, isLow };
  }
}

/** Returns true if a sender needs more Ether soon: an empty one always, any other below `lowBalanceGwei`. */
export function isLowBalance(wei: bigint, lowBalanceGwei: number): boolean {
  return wei === 0n || wei < parseGwei(String(lowBalanceGwei));
}
