import { setTimeout as delay } from "node:timers/promises";
import type { Trace } from "@dataset-oracle/service/http-server/trace";
import { readStored } from "../chain/stored-values.js";
import { type DataPoint, roundId } from "../data-point.js";
import type { Forwarding } from "../peers/forwarding.js";
import type { Context } from "../process-context.js";
import type { Progress } from "../progress.js";
import { roundAt } from "../round-time.js";
import { type Flight, type SingleFlight, singleFlightOfRounds } from "../single-flight.js";
import type { SentUpdate } from "./sent-update.js";

/** How long a round that another node has sent is followed, in milliseconds. */
const MAX_FOLLOWED_MS = 600_000;

/** Sends an update from this node. `payer` is the caller whose share of the gas budget pays for it. */
type Send = (dataPoint: DataPoint, round: bigint, payer: string) => Promise<SentUpdate>;

/** Has other nodes update data points, and sees to it that what they sent is stored. */
export class ForwardedUpdates {
  /**
   * The updates that other nodes made; null where this one has to. They are kept apart from those that this node sends,
   * so that two nodes never wait for each other.
   */
  readonly #forwards: SingleFlight<SentUpdate | null>;
  /** The newest round of each data point that another node has sent, until it is stored; in seconds since 1970. */
  readonly #followed = new Map<string, bigint>();

  /** @param send Called for a round that another node has sent and that the chain does not have in time. */
  constructor(
    private readonly context: Context,
    private readonly send: Send,
  ) {
    this.#forwards = singleFlightOfRounds(context, "forwarded");
  }

  /**
   * Forwards a broadcast to the node whose turn it is. The result is null when this node has to send the update itself.
   *
   * @param forwarding The network's.
   * @param payer The caller who pays if the other node's update gets lost and this node has to send one.
   */
  forward(
    forwarding: Forwarding,
    dataPoint: DataPoint,
    round: bigint,
    payer: string,
    trace: Trace | null,
  ): Flight<SentUpdate | null> {
    const forward = async (progress: Progress) => {
      const sentUpdate = await forwarding.forward(dataPoint, progress);
      if (sentUpdate !== null && sentUpdate.raw !== null) {
        void this.#follow(dataPoint, BigInt(sentUpdate.answer.timestamp), payer);
      }
      return sentUpdate;
    };
    return this.#forwards.run(roundId(dataPoint, round), forward, trace);
  }

  /**
   * Makes sure that a round that another node has sent is stored, because this node has answered a caller with it: if
   * the chain does not have it in time, this node sends a newer one. The other node's process may have ended.
   */
  async #follow(dataPoint: DataPoint, round: bigint, payer: string): Promise<void> {
    const { clock, closing } = this.context;
    const { id, network, dataset, key } = dataPoint;
    const isFollowed = this.#followed.has(id);
    this.#followed.set(id, round);
    if (isFollowed) return;
    const giveUpAt = clock() + MAX_FOLLOWED_MS;
    // It has to be seen twice, because a reorganization can drop it.
    for (let seen = 0; seen < 2 && clock() < giveUpAt; ) {
      await delay(network.settings.stuckSeconds * 1000, undefined, { signal: closing }).catch(() => {});
      if (closing.aborted) return;
      try {
        const { updatedAt } = await readStored(network.client, dataset.address, key, "latest");
        seen = updatedAt >= (this.#followed.get(id) ?? round) ? seen + 1 : 0;
        if (seen === 0) await this.send(dataPoint, roundAt(clock()), payer);
      } catch {
        seen = 0;
      }
    }
    this.#followed.delete(id);
  }
}
