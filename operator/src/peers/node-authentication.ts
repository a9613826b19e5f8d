import { type NodeRequest, nodeRequestDigest, signNodeRequest } from "@dataset-oracle/protocol/node-request-signature";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import { LRUCache } from "lru-cache";
import { type Hex, hexToBytes, type LocalAccount } from "viem";
import type { Clock } from "../process-context.js";
import type { Node, Nodes } from "./node-list.js";

/** How far the clocks of two nodes may differ, delay included. */
const MAX_SKEW_MS = 10_000;
/** The most requests that are remembered, so that none is served twice. Each node's rate limit is far below. */
const MAX_REMEMBERED = 100_000;

/** Signs this node's requests to other nodes, and tells which node has signed a request to this one. */
export class NodeAuthentication {
  #lastTime = 0;
  /** The digests of the requests of the last seconds. */
  readonly #seen: LRUCache<Hex, true>;

  constructor(
    private readonly chainId: number,
    private readonly nodes: Nodes,
    private readonly accounts: readonly LocalAccount[],
    private readonly clock: Clock,
  ) {
    this.#seen = new LRUCache({ max: MAX_REMEMBERED, ttl: 2 * MAX_SKEW_MS, ttlAutopurge: false });
  }

  /**
   * Signs a request, and returns the value of its header. Each gets a time of its own, so that none looks like a copy.
   *
   * @throws When this operator is not a listed node, or no longer, or its account cannot sign.
   */
  async sign(receiver: Node, path: string, body: string): Promise<string> {
    const account = this.#account;
    if (account === undefined) throw new Error("This operator is not the node of a provider.");
    this.#lastTime = Math.max(this.clock(), this.#lastTime + 1);
    const request = { chainId: this.chainId, path, body, time: this.#lastTime, receiver: receiver.submitter };
    return signNodeRequest(account, request);
  }

  /**
   * Finds the node that signed a request for this one, lately and for the first time.
   *
   * @param header The value of its header.
   * @returns Null when no other listed node did.
   */
  verify(header: string | undefined, path: string, body: string): Node | null {
    const [, time, signature] = /^(\d{13}) (0x[0-9a-f]{130})$/.exec(header ?? "") ?? [];
    if (time === undefined || signature === undefined) return null;
    if (Math.abs(Number(time) - this.clock()) > MAX_SKEW_MS) return null;
    const { all, own } = this.nodes;
    if (own === null) return null;
    const receiver = own.submitter;
    const request: NodeRequest = { chainId: this.chainId, path, body, time: Number(time), receiver };
    const digest = nodeRequestDigest(request);
    const signer = recoverSigner(hexToBytes(digest), signature);
    if (signer === receiver) return null;
    const node = all.find(({ submitter }) => submitter === signer);
    if (node === undefined || this.#seen.has(digest)) return null;
    this.#seen.set(digest, true);
    return node;
  }

  get #account(): LocalAccount | undefined {
    return this.accounts.find(({ address }) => address === this.nodes.own?.submitter);
  }
}
