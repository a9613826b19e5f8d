import type { Address } from "viem";
import { getBalance } from "viem/actions";
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

/** Reads the balances of all senders. */
export class SenderBalances {
  readonly #reads: SingleFlight<bigint>;

  constructor(
    private readonly networks: readonly Network[],
    clock: Clock,
  ) {
    this.#reads = new SingleFlight(clock, REMEMBER_MS);
  }

  read(): Promise<Balance[]> {
    return Promise.all(
      this.networks.flatMap((network) =>
        network.queues.map(async ({ address: sender }) => {
          const read = () => getBalance(network.client, { address: sender });
          const { result } = this.#reads.run(`${network.chainId} ${sender}`, read);
          return { network, sender, wei: await result.catch(() => null) };
        }),
      ),
    );
  }
}
