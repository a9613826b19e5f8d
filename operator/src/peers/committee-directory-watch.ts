import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { Address } from "viem";
import type { ChainClient } from "../chain/client.js";
import { type AnnouncementEvent, readAnnouncementEvents, readAnnouncements } from "../chain/committee-directory.js";
import { hasCode } from "../chain/has-code.js";
import { readBlockNumber } from "../chain/read-blocks.js";
import type { NetworkSettings } from "../config.js";
import type { Dataset } from "../network.js";
import type { Context } from "../process-context.js";
import type { ProviderUrls } from "../providers/provider-urls.js";
import type { NodeList } from "./node-list.js";

/** All announcements are read again after this time, whatever was seen: an RPC node can have missed a log. */
const READ_AGAIN_MS = 600_000;

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
    private readonly providerUrls: ProviderUrls,
    private readonly settings: Pick<NetworkSettings, "reorgDepth">,
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
    await this.look();
  }

  /**
   * Looks for new announcements. Two cheap requests show if there are any. If so, and every ten minutes, all
   * announcements are read anew.
   *
   * @throws RpcError. The nodes then stay as they are.
   */
  async look(): Promise<void> {
    const { client, address, nodes } = this;
    const { clock, logger } = this.context;
    const members = [...new Set(this.datasets.flatMap(({ committee }) => committee.current.members))].toSorted();
    // The newest blocks are looked at again, because a reorganization can drop their announcements.
    const from = Math.max(0, (await readBlockNumber(client)) - this.settings.reorgDepth);
    const recent = await readAnnouncementEvents(client, address, members, from);
    const isKnown =
      members.join() === this.#members.join() &&
      clock() < this.#readAt + READ_AGAIN_MS &&
      isSame(
        recent,
        this.#seen.filter(({ blockNumber }) => blockNumber >= from),
      );
    if (isKnown) return this.providerUrls.refresh(false);
    const before = JSON.stringify(nodes.all);
    nodes.setAnnouncements(await readAnnouncements(client, address, members));
    [this.#members, this.#seen, this.#readAt] = [members, recent, clock()];
    await this.providerUrls.refresh(true);
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
