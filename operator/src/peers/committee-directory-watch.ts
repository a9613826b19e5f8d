import { setTimeout as delay } from "node:timers/promises";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { Address } from "viem";
import { readBlockNumber } from "../chain/blocks.js";
import type { ChainClient } from "../chain/client.js";
import { type AnnouncementEvent, readAnnouncementEvents, readAnnouncements } from "../chain/committee-directory.js";
import { hasCode } from "../chain/has-code.js";
import type { Dataset } from "../network.js";
import type { Context } from "../process-context.js";
import type { NodeList } from "./node-list.js";
import type { Providers } from "./providers.js";

/** New announcements are looked for after this many polls of the RPC endpoints. */
const POLLS = 5;
/** All announcements are read again after this time, whatever was seen: an RPC node can have missed a log. */
const READ_AGAIN_MS = 600_000;

/** How often and how far back the directory is looked at. */
export interface CommitteeDirectorySettings {
  readonly rpcPollMs: number;
  /** How many of the newest blocks are looked at again, because a reorganization can drop their announcements. */
  readonly reorgDepth: number;
}

/** Keeps the list of nodes up to date with the announcements in the directory on chain. */
export class CommitteeDirectoryWatch {
  #members: readonly Address[] = [];
  /** The events of the newest blocks, as of the last time that the announcements were read. */
  #seen: readonly AnnouncementEvent[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly context: Context,
    private readonly client: ChainClient,
    private readonly address: Address,
    private readonly datasets: readonly Dataset[],
    private readonly nodes: NodeList,
    private readonly providers: Providers,
    private readonly settings: CommitteeDirectorySettings,
  ) {}

  /**
   * Lists the nodes for the first time.
   *
   * @throws ConfigError when the directory is not a contract. RpcError.
   */
  async start(): Promise<void> {
    const { client, address } = this;
    if (!(await hasCode(client, address))) {
      throw new ConfigError(
        `network ${client.chain.id}: ${address}, the committeeDirectory, is not a contract. Correct its address.`,
      );
    }
    await this.#look();
  }

  /** Follows the directory until the process shuts down. While it cannot be read, the nodes stay as they are. */
  async run(): Promise<void> {
    const { closing, logger } = this.context;
    while (!closing.aborted) {
      await delay(POLLS * this.settings.rpcPollMs, undefined, { signal: closing }).catch(() => {});
      if (closing.aborted) return;
      await this.#look().catch((error: Error) => {
        logger.debug({ network: this.client.chain.id, error: error.message }, "the directory of nodes cannot be read");
      });
    }
  }

  /** Two cheap requests show if anything has changed. If so, and every ten minutes, all announcements are read anew. */
  async #look(): Promise<void> {
    const { client, address, nodes } = this;
    const { clock, logger } = this.context;
    const members = [...new Set(this.datasets.flatMap(({ committee }) => committee.current.members))].toSorted();
    const from = Math.max(0, (await readBlockNumber(client)) - this.settings.reorgDepth);
    const recent = await readAnnouncementEvents(client, address, members, from);
    const isKnown =
      members.join() === this.#members.join() &&
      clock() < this.#readAt + READ_AGAIN_MS &&
      isSame(
        recent,
        this.#seen.filter(({ blockNumber }) => blockNumber >= from),
      );
    if (isKnown) return this.providers.refreshEndpoints(false);
    const before = JSON.stringify(nodes.all);
    nodes.setAnnouncements(await readAnnouncements(client, address, members));
    [this.#members, this.#seen, this.#readAt] = [members, recent, clock()];
    await this.providers.refreshEndpoints(true);
    if (JSON.stringify(nodes.all) === before) return;
    const listed = nodes.all.map(({ provider, url, submitter }) => ({ provider, url, submitter }));
    logger.info(
      { network: client.chain.id, nodes: listed, own: nodes.own?.provider ?? null },
      "the nodes have changed",
    );
  }
}

const isSame = (a: readonly AnnouncementEvent[], b: readonly AnnouncementEvent[]) =>
  a.length === b.length && a.every(({ id }, index) => id === b[index]?.id);
