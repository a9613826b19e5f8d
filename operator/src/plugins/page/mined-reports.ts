import { type DecodedUpdate, decodeUpdate } from "@dataset-oracle/protocol/decode-update-reports";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import { LRUCache } from "lru-cache";
import { type Address, getAddress, type Hex, hexToBytes } from "viem";
import type { Dataset } from "../../dataset/dataset.js";
import type { PastUpdate } from "../../dataset/update-events.js";
import { readTransaction } from "../../rpc/transactions.js";

/** The transaction that stored an update, with the signed reports in it. */
export interface MinedRound {
  /** The sender of the transaction; null if the node no longer has it. */
  readonly sender: Address | null;
  /** Null if the transaction does not show them, because another contract relayed the update. */
  readonly reports: Pick<DecodedUpdate, "reports" | "absentees"> | null;
}

const MAX_ROUNDS = 5_000;

/** Reads the reports behind stored updates, each once. */
export class MinedReports {
  readonly #known = new LRUCache<string, MinedRound>({ max: MAX_ROUNDS });

  /** @throws RpcError */
  async read({ client, chainId, address }: Dataset, key: Hex, update: PastUpdate): Promise<MinedRound> {
    const name = `${chainId} ${address} ${key} ${update.transactionHash}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const sent = await readTransaction(client, update.transactionHash);
    if (sent === null) return { sender: null, reports: null };
    const isDirect = sent.to !== null && getAddress(sent.to) === address;
    const dataPoint = { chainId, dataset: address, key };
    const decoded = isDirect ? await decodeUpdate(sent.input, dataPoint, recover) : null;
    const round = { sender: getAddress(sent.from), reports: decoded?.round === update.timestamp ? decoded : null };
    this.#known.set(name, round);
    return round;
  }
}

const recover = async (digest: Hex, signature: Hex) => recoverSigner(hexToBytes(digest), signature);
