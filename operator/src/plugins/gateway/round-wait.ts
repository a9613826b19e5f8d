import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../../context.js";
import { readHead } from "../../rpc/blocks.js";
import type { ChainClient } from "../../rpc/client.js";
import { SingleFlight } from "../../update/single-flight.js";

/** The longest wait for a block: two slots of Ethereum and the time that a block takes to spread. */
const MAX_WAIT_MS = 30_000;
const POLL_MS = 1_000;
/** A wait that is over is remembered for a while: requests name a new round each second. */
const REMEMBER_MS = 10_000;
/** A block that has just arrived here is not yet at every other node. */
const SPREAD_MS = 1_000;

/**
 * Waits until the newest block reaches a round. `eth_call` executes in the newest block, with its time, and a dataset
 * refuses a round that is later: on a chain with a block every 12 seconds, most current rounds are.
 */
export class RoundWait {
  readonly #waits: SingleFlight<void>;

  constructor(private readonly context: Pick<Context, "clock" | "closing">) {
    this.#waits = new SingleFlight(context.clock, REMEMBER_MS);
  }

  /**
   * Resolves once the newest block is not older than the round, or after a bound: then the caller's node tells what is
   * wrong. Everyone who waits for the same round shares the calls.
   *
   * @param round Seconds since 1970.
   * @throws RpcError
   */
  async reach(client: ChainClient, round: bigint): Promise<void> {
    await this.#waits.run(`${client.chain.id} ${round}`, () => this.#wait(client, round)).result;
  }

  async #wait(client: ChainClient, round: bigint): Promise<void> {
    const { clock, closing } = this.context;
    if ((await readHead(client)).timestamp >= round) return;
    const giveUpAt = clock() + MAX_WAIT_MS;
    do {
      await delay(POLL_MS, undefined, { signal: closing });
    } while ((await readHead(client)).timestamp < round && clock() < giveUpAt);
    await delay(SPREAD_MS, undefined, { signal: closing });
  }
}
