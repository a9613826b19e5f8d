import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { Address } from "viem";

/** An operator that a data provider runs beside it: this one, or another. */
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
  /** In the order of provider addresses; empty for an operator by itself. */
  readonly all: readonly Node[];
  /** This operator's own entry; null for a volunteer, which the list does not name, and for an operator by itself. */
  readonly own: Node | null;
}

/**
 * Orders the listed nodes, and finds this operator's own entry by its senders.
 *
 * @param senders The accounts from which this operator sends.
 * @param where The beginning of the error message.
 * @throws ConfigError when the list names several of the senders.
 */
export function listNodes(listed: readonly Node[], senders: readonly Address[], where: string): Nodes {
  const own = listed.filter(({ submitter }) => senders.includes(submitter));
  if (own.length > 1) {
    throw new ConfigError(
      `${where}: peers names ${own.length} senders of this operator: ${own.map(({ submitter }) => submitter).join(", ")}. ` +
        "Name one.",
    );
  }
  const all = listed.toSorted((a, b) => (a.provider.toLowerCase() < b.provider.toLowerCase() ? -1 : 1));
  return { all, own: own[0] ?? null };
}
