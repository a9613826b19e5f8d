import { encodeAccusation } from "@dataset-oracle/protocol/encode-accusation";
import type { Logger } from "pino";
import { readBlockIntervalMs } from "../chain/read-blocks.js";
import { describeError } from "../chain/rpc-error.js";
import { orderOf } from "../feeds/turn-schedule.js";
import type { Network } from "../network.js";
import type { Operator } from "../operator.js";
import { nodesIn } from "../peers/node-list.js";
import type { Job, RoundCall } from "../tx/job.js";
import { sendJob } from "../tx/send-within-gas-budget.js";
import type { Contradiction } from "./held-statements.js";

/** The dataset ejects nobody from a committee of this size or a smaller one. */
const MIN_AFTER_EJECTION = 4;
/** The wait before an accusation is tried again that failed, or that was mined and has changed nothing. */
const RETRY_MS = 60_000;
/**
 * An accusation stores the block number. In the block that set the committee that store changes nothing, so an estimate
 * made there is too low.
 */
const SPARE_GAS = 30_000n;
/** The chunk that distinguishes the turns of accusations from those of feeds. */
const ACCUSATION = 1 << 24;

/** Accuses members that have contradicted themselves, on chain, until they have left the committee. */
export class Accuser {
  readonly #log: Logger;
  readonly #nextAt = new WeakMap<Contradiction, number>();

  constructor(
    private readonly operator: Operator,
    private readonly network: Network,
  ) {
    this.#log = operator.logger.child({ network: network.chainId });
  }

  /** Takes the next step against each of them. It never throws. */
  async pursueAll(): Promise<void> {
    for (const found of this.network.statements.unsettled) {
      await this.#pursue(found).catch((error: unknown) => {
        const { dataset, provider } = found;
        const reason = describeError(error);
        this.#log.warn({ dataset: dataset.address, provider, reason }, "the accusation failed; it will be retried");
      });
    }
  }

  async #pursue(found: Contradiction): Promise<void> {
    const { network } = this;
    const { clock } = this.operator;
    const { dataset, provider, key, round } = found;
    const { committee } = dataset;
    await committee.refreshIfReplaced(committee.current);
    const { members } = committee.current;
    if (!members.includes(provider)) {
      this.#log.warn(
        { dataset: dataset.address, provider },
        "a member that contradicted itself has left the committee",
      );
      return network.statements.settle(found);
    }
    let nextAt = this.#nextAt.get(found);
    if (nextAt === undefined) {
      const about = { dataset: dataset.address, provider, key, round: round.toString() };
      this.#log.warn(about, "a member contradicted itself, and counts as absent");
      nextAt = found.foundAt + (await this.#waitMs(found));
      this.#nextAt.set(found, nextAt);
    }
    if (clock() < nextAt || network.queues.length === 0 || members.length <= MIN_AFTER_EJECTION) return;
    this.#nextAt.set(found, clock() + RETRY_MS);
    const job = await this.#jobOf(found);
    const { hash, confirmed } = await sendJob(this.operator, { network, dataset, key }, job);
    // The queue gets it mined. Until then a simulation can succeed again, and a second accusation would only cost gas.
    this.#nextAt.set(found, Number.POSITIVE_INFINITY);
    void confirmed.then(() => this.#nextAt.set(found, clock() + RETRY_MS));
    this.#log.warn(
      { dataset: dataset.address, provider, transaction: hash },
      "accused a member of contradicting itself",
    );
  }

  /** Nodes take turns, as for feeds, so that not all of them pay. Each gives those before it two blocks and a stage. */
  async #waitMs({ dataset, provider, round }: Contradiction): Promise<number> {
    const { client, nodes, settings } = this.network;
    const { members } = dataset.committee.current;
    const others = nodesIn(members, nodes).filter((one) => one !== provider);
    const order = orderOf({ dataset: dataset.address, chunk: ACCUSATION, round }, others);
    const own = nodes.own === null ? -1 : order.indexOf(nodes.own.provider);
    const blockMs = await readBlockIntervalMs(client);
    return (own === -1 ? order.length : own) * (settings.stageMs + 2 * blockMs);
  }

  /**
   * The accusation's transaction is replaced and sent again, like an update's, until the member has left the committee.
   */
  async #jobOf(found: Contradiction): Promise<Job<RoundCall>> {
    const { dataset, provider } = found;
    const { committee } = dataset;
    const hasLeft = async () => {
      await committee.refreshIfReplaced(committee.current);
      return !committee.current.members.includes(provider);
    };
    return {
      dataPointId: `accusation ${dataset.address} ${provider}`,
      payer: null,
      call: await this.#callOf(found),
      renew: async () => ((await hasLeft()) ? null : this.#callOf(found)),
      isStored: hasLeft,
    };
  }

  /** @throws RpcError when the dataset would refuse the accusation. */
  async #callOf({ dataset, key, round, statements: [a, b] }: Contradiction): Promise<RoundCall> {
    const to = dataset.address;
    const data = encodeAccusation({ key, round }, a, b, dataset.committee.current);
    const { gas } = await this.network.simulator.execute(to, data);
    return { to, data, gas: gas + SPARE_GAS, round, expiresAt: Number.POSITIVE_INFINITY };
  }
}
