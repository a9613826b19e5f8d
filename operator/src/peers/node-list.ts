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

/** The nodes of one network: as its directory announces them, and for members that announced nothing, as configured. */
export class NodeList {
  /** In the order of provider addresses; empty for an operator by itself. */
  all: readonly Node[] = [];
  /** This operator's own entry; null for a volunteer, which the list does not name, and for an operator by itself. */
  own: Node | null = null;

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

  /** True for an operator by itself. */
  get isAlone(): boolean {
    return this.all.length === 0;
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
    const isOwn = ({ submitter }: Pick<Node, "submitter">) => this.senders.includes(submitter);
    // A member can announce a submitter that is not its own. Then the configuration tells which entry is this
    // operator's; without one, the entry that was announced first counts.
    const owns = [...placed.filter(isOwn).toSorted((a, b) => Number(a.issuedAt - b.issuedAt)), ...others.filter(isOwn)];
    const configuredOwn = this.configured.find(isOwn)?.provider;
    const own = owns.find(({ provider }) => provider === configuredOwn) ?? owns[0];
    this.all = [...placed.map(nodeOf), ...others].toSorted(byProvider);
    this.own = this.all.find(({ provider }) => provider === own?.provider) ?? null;
  }
}

/** A list of nodes that only its `NodeList` changes. */
export type Nodes = Readonly<Pick<NodeList, "isAlone" | "all" | "own">>;

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
