import type { Logger } from "pino";
import { type Address, formatEther } from "viem";
import { getBalance } from "viem/actions";
import { isLowBalance } from "./low-balance.js";
import type { Network } from "./network.js";
import type { Clock } from "./process-context.js";
import { SingleFlight } from "./single-flight.js";

/** The balance of one sender on one network. */
export interface Balance {
  readonly network: Network;
  readonly sender: Address;
  /** Null when it cannot be read. */
  readonly wei: bigint | null;
}

/** How long a balance is shown without being read again: anonymous callers may ask whether the operator is ready. */
const REMEMBER_MS = 5_000;

/** Reads the balances of all senders, and logs once when one is low, and once when it no longer is. */
export class SenderBalances {
  readonly #reads: SingleFlight<bigint>;
  /** The senders whose balance was low when it was last read, each with its network. */
  readonly #low = new Set<string>();

  constructor(
    private readonly networks: readonly Network[],
    clock: Clock,
    private readonly logger: Logger,
  ) {
    this.#reads = new SingleFlight(clock, REMEMBER_MS);
  }

  read(): Promise<Balance[]> {
    return Promise.all(
      this.networks.flatMap((network) =>
        network.queues.map(async ({ address: sender }) => {
          const id = `${network.chainId} ${sender}`;
          const read = async () => {
            const wei = await getBalance(network.client, { address: sender });
            this.#log(id, network, sender, wei);
            return wei;
          };
          const { result } = this.#reads.run(id, read);
          return { network, sender, wei: await result.catch(() => null) };
        }),
      ),
    );
  }

  #log(id: string, { chainId, settings }: Network, sender: Address, wei: bigint): void {
    const isLow = isLowBalance(wei, settings);
    if (isLow === this.#low.has(id)) return;
    const fields = { network: chainId, sender, balanceEther: Number(formatEther(wei)) };
    if (isLow) {
      this.#low.add(id);
      this.logger.warn(
        { ...fields, lowBalanceGwei: settings.lowBalanceGwei },
        wei === 0n
          ? "the sender's balance is zero: fund it, because it cannot pay for transactions"
          : "the sender's balance is low: fund it, or it cannot pay for transactions",
      );
    } else {
      this.#low.delete(id);
      this.logger.info(fields, "the sender's balance is no longer low");
    }
  }
}
