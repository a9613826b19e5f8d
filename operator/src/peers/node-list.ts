import { BASE_URL_PATTERN, withoutFinalSlashes } from "@dataset-oracle/protocol/base-url";
import type { Announcement } from "@dataset-oracle/protocol/node-announcement";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { Address } from "viem";

/** An operator that is run by a data provider's owner: this one, or another. */
export interface Node {
  /** The provider's signing address. */
  readonly provider: Address;
  /** The operator's base URL, without a slash at its end. */
  readonly url: string;
  /** The account from which it sends, and by whose key other nodes recognize it. */
  readonly submitter: Address;
}

/** The nodes of one network, as they are listed now. */
export interface Nodes {
  /** True for an operator by itself. */
  readonly isAlone: boolean;
  /** In the order of provider addresses; empty for an operator by itself. */
  readonly all: readonly Node[];
  /** This operator's own entry; null for a volunteer, which the list does not name, and for an operator by itself. */
  readonly own: Node | null;
}

/** The nodes of one network: as its directory announces them, and for members that announced nothing, as configured. */
export class NodeList implements Nodes {
  #all: readonly Node[] = [];
  #own: Node | null = null;

  /**
   * @param senders The accounts from which this operator sends.
   * @param where The beginning of the error message.
   * @throws ConfigError when the configured nodes have several of the senders.
   */
  constructor(
    private readonly configured: readonly Node[],
    private readonly senders: readonly Address[],
    where: string,
  ) {
    const own = configured.filter(({ submitter }) => senders.includes(submitter));
    if (own.length > 1) {
      throw new ConfigError(
        `${where}: peers names ${own.length} senders of this operator: ` +
          `${own.map(({ submitter }) => submitter).join(", ")}. Name one.`,
      );
    }
    this.setAnnouncements([]);
  }

  get isAlone(): boolean {
    return this.#all.length === 0;
  }

  get all(): readonly Node[] {
    return this.#all;
  }

  get own(): Node | null {
    return this.#own;
  }

  /**
   * Lists the nodes that the directory announces now. Members that withdrew theirs, or announced an invalid URL, have
   * none.
   *
   * @param announcements The latest of each member that announced anything.
   */
  setAnnouncements(announcements: readonly Announcement[]): void {
    const announcers = new Set(announcements.map(({ provider }) => provider));
    const placed = announcements.filter(({ url }) => new RegExp(BASE_URL_PATTERN).test(url) && URL.canParse(url));
    const others = this.configured.filter(({ provider }) => !announcers.has(provider));
    // A member can announce a submitter that is not its own. Then the configuration tells which entry is this
    // operator's; without one, the entry that was announced first counts.
    const owns = placed
      .filter(({ submitter }) => this.senders.includes(submitter))
      .toSorted((a, b) => Number(a.issuedAt - b.issuedAt));
    const configuredOwn = this.configured.find(({ submitter }) => this.senders.includes(submitter))?.provider;
    const all = [...placed.map(nodeOf), ...others].toSorted(byProvider);
    const own = owns.find(({ provider }) => provider === configuredOwn) ?? owns[0];
    this.#all = all;
    this.#own =
      all.find(({ provider }) => provider === own?.provider) ??
      others.find(({ submitter }) => this.senders.includes(submitter)) ??
      null;
  }
}

/** Returns a committee's providers that have a node. Anyone can be listed as a node, but only members have ranks. */
export function nodesIn(members: readonly Address[], { all }: Pick<Nodes, "all">): readonly Address[] {
  return all.map(({ provider }) => provider).filter((provider) => members.includes(provider));
}

/** Returns the nodes of providers, in the order of the providers. */
export function nodesOfProviders(providers: readonly Address[], { all }: Pick<Nodes, "all">): readonly Node[] {
  return providers.flatMap((provider) => all.find((node) => node.provider === provider) ?? []);
}

/** Returns the nodes that do not send from this operator's account. */
export function othersOf({ all, own }: Nodes): readonly Node[] {
  return all.filter(({ submitter }) => submitter !== own?.submitter);
}

const nodeOf = ({ provider, url, submitter }: Announcement): Node => ({
  provider,
  submitter,
  url: withoutFinalSlashes(url),
});

const byProvider = (a: Node, b: Node) => (a.provider.toLowerCase() < b.provider.toLowerCase() ? -1 : 1);
