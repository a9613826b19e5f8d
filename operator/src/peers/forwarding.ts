import { ForwardedAnswer, type ForwardedRequest } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import { NODE_SIGNATURE_HEADER } from "@dataset-oracle/protocol/node-request-signature";
import { traceHeaders } from "@dataset-oracle/service/http-server/trace";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Address } from "viem";
import type { DataPoint } from "../data-point.js";
import type { Context } from "../process-context.js";
import type { Progress } from "../progress.js";
import { roundAt } from "../round-time.js";
import type { SentUpdate } from "../update/sent-update.js";
import { acceptForwardedAnswer } from "./accept-forwarded-answer.js";
import type { GuardedHttp } from "./guarded-http.js";
import type { NodeAuthentication } from "./node-authentication.js";
import type { Node, Nodes } from "./node-list.js";
import { rankNodesForRequest } from "./rank-nodes-for-request.js";
import { readNodeAnswer } from "./read-node-answer.js";

/** The path at which a node takes the requests that another forwards. It is below the base URL. */
export const FORWARDED_PATH = "/data/request/forwarded";

/** A node that has not answered by then is passed over. */
const DEADLINE_MS = 2_000;
/** How many nodes are asked before this one serves a request itself. */
const MAX_ASKED = 2;
/** How long a node that did not answer is not asked again. */
const AWAY_MS = 15_000;
/** Room for the answer and the transaction of a committee of 255 members. */
const MAX_ANSWER_BYTES = 256 * 1024;

const forwardedAnswer = TypeCompiler.Compile(ForwardedAnswer);

/**
 * Forwards broadcasts to the node whose turn it is to serve the key. So requests for one key that reach several nodes
 * at the same time all end up at one node, which sends one transaction for all of them.
 */
export class Forwarding {
  readonly #awayUntil = new Map<Address, number>();

  constructor(
    private readonly context: Context,
    private readonly nodes: Nodes,
    private readonly authentication: NodeAuthentication,
    private readonly http: GuardedHttp,
  ) {}

  /**
   * Has another node update a data point.
   *
   * @returns Null when this node has to do it itself: because it is its turn, or the others did not.
   */
  async forward(dataPoint: DataPoint, progress: Progress): Promise<SentUpdate | null> {
    const { clock, logger } = this.context;
    const round = roundAt(clock());
    for (const node of this.#askedBeforeThis(dataPoint)) {
      const answer = await this.#ask(node, dataPoint, round, progress);
      if (answer === "away") {
        this.#awayUntil.set(node.provider, clock() + AWAY_MS);
        continue;
      }
      // The node works and cannot serve the request: asking the next would tell no more than trying here.
      if (answer === "refused") return null;
      const accepted = await acceptForwardedAnswer(this.context, dataPoint, node, round, answer, progress);
      if (accepted.ok) return accepted.value;
      const where = { network: dataPoint.network.chainId, node: node.provider, reason: accepted.error };
      logger.warn(where, "a node's answer to a forwarded request is not used");
      return null;
    }
    return null;
  }

  #askedBeforeThis(dataPoint: DataPoint): readonly Node[] {
    const now = this.context.clock();
    const turns = rankNodesForRequest(this.nodes, dataPoint, now);
    const own = turns.findIndex(({ provider }) => provider === this.nodes.own?.provider);
    // Only the nodes of committee members have turns, and this is not one of them.
    if (own < 0) return [];
    const isNotAway = ({ provider }: Node) => (this.#awayUntil.get(provider) ?? 0) <= now;
    return turns.slice(0, own).filter(isNotAway).slice(0, MAX_ASKED);
  }

  async #ask(
    node: Node,
    { network, dataset, key }: DataPoint,
    round: bigint,
    { trace }: Progress,
  ): Promise<ForwardedAnswer | "away" | "refused"> {
    const startedAt = performance.now();
    const request: ForwardedRequest = {
      network_id: network.chainId,
      dataset: dataset.address,
      key,
      timestamp: Number(round),
    };
    const body = JSON.stringify(request);
    const signature = await this.authentication.sign(node, FORWARDED_PATH, body).catch(() => null);
    // A remote signer can be away, or sign transactions only.
    if (signature === null) return "refused";
    const headers = { accept: "application/json", [NODE_SIGNATURE_HEADER]: signature, ...traceHeaders(trace) };
    const limits = { timeoutMs: DEADLINE_MS, maxBytes: MAX_ANSWER_BYTES };
    const posted = await this.http.post(node.url, FORWARDED_PATH, headers, body, limits);
    const answer = readNodeAnswer(forwardedAnswer, posted);
    const outcome = answer !== null ? "ok" : posted.ok ? "refused" : posted.error.code;
    const seconds = (performance.now() - startedAt) / 1000;
    this.context.metrics.nodeRequests.observe({ network: network.chainId, node: node.provider, outcome }, seconds);
    return answer ?? (posted.ok ? "refused" : "away");
  }
}
