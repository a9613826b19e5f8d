import { Type } from "@sinclair/typebox";
import { type Address, type Hex, hexToBigInt } from "viem";
import { requestAs } from "./chain/rpc.js";
import type { Clock } from "./clock.js";
import type { Network } from "./network.js";
import { SingleFlight } from "./single-flight.js";

/** What one sender has on one network. */
export interface Balance {
  readonly network: Network;
  readonly sender: Address;
  /** Null when it cannot be read. */
  readonly wei: bigint | null;
}

/** How long a balance is shown without being read again: foreign may ask whether the operator is ready. */
const REMEMBER_MS = 5_000;

const Wei = Type.Unsafe<Hex>(Type.String({ pattern: "^0x[0-9a-fA-F]{1,64}$" }));

/** The balances of all senders. */
export class Balances {
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
        (network.senders?.addresses ?? []).map(async (sender) => {
          const read = async () => hexToBigInt(await requestAs(network.rpc, Wei, "eth_getBalance", [sender, "latest"]));
          const { result } = this.#reads.run(`${network.chainId} ${sender}`, read);
          return { network, sender, wei: await result.catch(() => null) };
        }),
      ),
    );
  }
}
