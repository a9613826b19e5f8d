import { encodeAccusation } from "@dataset-oracle/protocol/encode-accusation";
import type { Context } from "@dataset-oracle/service/process/context";
import type { Logger } from "pino";
import { describeError } from "../../rpc/rpc-error.js";
import { accusationWaitMs } from "../../schedule/cadence.js";
import { Ranking } from "../../schedule/rank.js";
import type { ServedNetwork } from "../../served-network.js";
import type { GasCharge } from "../../transactions/gas-budget.js";
import { MAX_QUEUE_MS } from "../../transactions/queue.js";
import { isSameSubject, type RoundCall, type Subject, Task, type Work } from "../../transactions/task.js";
import type { Contradiction, HeldStatements } from "./held-statements.js";

/** The dataset ejects nobody from a committee of this size or a smaller one. */
const MIN_AFTER_EJECTION = 4;
/** The wait before a member is accused again after a transaction that has changed nothing: each costs gas. */
const RETRY_MS = 60_000;

/** Accuses members that have contradicted themselves, on chain, until they have left the committee. */
export class Accuser {
  readonly #nextAt = new WeakMap<Contradiction, number>();
  /** Why the latest attempt failed. */
  readonly #reasons = new WeakMap<Contradiction, string>();

  constructor(
    private readonly network: Pick<ServedNetwork, "senders" | "dryRun" | "standing">,
    private readonly held: HeldStatements,
    private readonly context: Pick<Context, "clock">,
    private readonly log: Logger,
  ) {}

  /** Takes the next step against each of them, whether or not earlier ones have ended. It never throws. */
  async pursueAll(): Promise<void> {
    await Promise.all(
      this.held.contradictions.map((found) =>
        this.#pursue(found).catch((error: unknown) => {
          const { dataset, provider } = found;
          const reason = describeError(error);
          const level = this.#reasons.get(found) === reason ? "debug" : "warn";
          this.#reasons.set(found, reason);
          this.log[level]({ dataset: dataset.address, provider, reason }, "the accusation failed; it will be retried");
        }),
      ),
    );
  }

  async #pursue(found: Contradiction): Promise<void> {
    const { clock } = this.context;
    const { senders, standing } = this.network;
    const { dataset, provider, key, round } = found;
    const { committee } = dataset;
    const about = { dataset: dataset.address, provider };
    await committee.refreshIfReplaced(committee.current);
    const { members } = committee.current;
    if (!members.includes(provider)) {
      this.log.warn(about, "a member that contradicted itself has left the committee");
      return this.held.settle(found);
    }
    let nextAt = this.#nextAt.get(found);
    if (nextAt === undefined) {
      this.log.warn({ ...about, key, round: round.toString() }, "a member contradicted itself, and counts as absent");
      // Operators take turns, as for feeds, so that not all of them pay.
      const ranking = new Ranking(dataset.address, standing.members ?? members);
      nextAt = found.foundAt + accusationWaitMs({ ...standing, ranking }, provider, round);
      this.#nextAt.set(found, nextAt);
    }
    if (clock.monotonic() < nextAt || !senders.canSend || members.length <= MIN_AFTER_EJECTION) return;
    // One whose submission was unclear may still be mined.
    if (senders.underway.some(({ work }) => isSameSubject(work.subject, subjectOf(found)))) return;
    // The queue gets it mined. Until then a simulation can succeed again, and a second accusation would only cost gas.
    const waitFor = (ms: number) => void this.#nextAt.set(found, clock.monotonic() + ms);
    waitFor(Number.POSITIVE_INFINITY);
    try {
      const admission = senders.admit(null, `${dataset.address} accusation`);
      const work = await this.#workOf(found, admission.charge).catch((error: unknown) => {
        admission.charge.settle(0n);
        throw error;
      });
      const task = new Task(work, clock.monotonic() + MAX_QUEUE_MS);
      const { hash } = await senders.enqueue(task, admission);
      const retry = () => waitFor(RETRY_MS);
      void task.confirmed.then(retry, retry);
      this.log.warn({ ...about, transaction: hash }, "accused a member of contradicting itself");
    } catch (error) {
      // What failed may work at the next look.
      waitFor(0);
      throw error;
    }
  }

  /**
   * The accusation's transaction is replaced and sent again, like an update's, until the member has left the committee.
   */
  async #workOf(found: Contradiction, charge: GasCharge): Promise<Work> {
    const { dataset, provider } = found;
    const { committee } = dataset;
    const hasLeft = async () => {
      await committee.refreshIfReplaced(committee.current);
      return !committee.current.members.includes(provider);
    };
    return {
      subject: subjectOf(found),
      payer: null,
      charge,
      call: await this.#callOf(found),
      renew: async () => ((await hasLeft()) ? null : this.#callOf(found)),
      isStored: hasLeft,
    };
  }

  /**
   * An accusation stores the block number, which changes nothing in the block that set the committee, so that the gas
   * simulated there is too low. What the dry run adds in proportion covers one store under the rules of any EVM.
   *
   * @throws RpcError when the dataset would refuse the accusation.
   */
  async #callOf({ dataset, key, round, statements: [a, b] }: Contradiction): Promise<RoundCall> {
    const to = dataset.address;
    const data = encodeAccusation({ key, round }, a, b, dataset.committee.current);
    const { gas } = await this.network.dryRun.call(to, data);
    return { to, data, gas, round, expiresAt: Number.POSITIVE_INFINITY };
  }
}

function subjectOf({ dataset, provider, key }: Contradiction): Subject {
  return { dataset: dataset.address, keys: [key], accused: provider };
}
