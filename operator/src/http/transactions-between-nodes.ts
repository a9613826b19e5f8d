import { SharedTransaction, TransactionsQuery } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import type { App } from "@dataset-oracle/service/http-server/app";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { ANY_BODY, jsonAnswer, problemResponses } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import type { Hex } from "viem";
import { RpcError } from "../chain/rpc-error.js";
import type { OperatorConfig } from "../config.js";
import type { Operator } from "../operator.js";
import { holdReceived, readReceived, TRANSACTIONS_PATH } from "../peers/share-transactions.js";
import { invalidParameter, invalidTransaction, unknownNetwork } from "../problems.js";
import { addQueryStringRoute } from "./add-query-string-route.js";
import { findDataset } from "./find-data-point.js";
import { nodeLimits } from "./node-rate-limits.js";
import { datasetProblems, INVALID_QUERY } from "./problem-responses.js";

/** Room for a batch of 100 keys that 60 members have signed. */
const MAX_BODY_BYTES = 512 * 1024;

const get = {
  tags: ["nodes"],
  operationId: "readTransactions",
  summary: "Lists nodes' signed transactions that update a key.",
  description:
    "This node's own transactions, and those that others have shared with it, for a node that was cut off at the " +
    "time; at most four, the newest first.",
  querystring: TransactionsQuery,
  response: {
    200: jsonAnswer("The transactions of the round or a newer one.", Type.Array(SharedTransaction)),
    ...datasetProblems(INVALID_QUERY),
  },
};

const post = {
  tags: ["nodes"],
  operationId: "shareTransaction",
  summary: "Takes a transaction that another node has signed, so that this node can submit it when its turn comes.",
  description:
    "Only an update of a dataset that is served here, or a cancellation (a zero-value transfer from the sender to itself), signed " +
    "by the submitter of another node. It is held if the chain would accept it now, and nothing is sent at once.",
  body: SharedTransaction,
  response: {
    200: jsonAnswer("The transaction is held.", Type.Object({ transaction_hash: Type.String() })),
    ...problemResponses([
      ANY_BODY,
      { 422: ["unknown_network", "invalid_transaction"], 429: ["too_many_requests"], 502: ["rpc_failed"] },
    ]),
  },
};

/**
 * Adds `GET /transactions` and `POST /transactions`. A posted transaction that has to be checked against the chain
 * counts against the limit of the node that signed it.
 */
export function addTransactions(
  app: App,
  operator: Operator,
  { nodeRequestsPerMinute }: Pick<OperatorConfig, "nodeRequestsPerMinute">,
): void {
  const { networks } = operator;
  const { rate, limitNode } = nodeLimits(app, "transactions", nodeRequestsPerMinute);
  const getRate = { ...rate, name: "read-transactions" };
  addQueryStringRoute(app, TRANSACTIONS_PATH, get, getRate, async ({ query }): Promise<SharedTransaction[]> => {
    const { network, dataset } = findDataset(networks, query, invalidParameter);
    const held = network.transactions.list(dataset.address, query.key as Hex, BigInt(query.round));
    return held.map(({ raw }) => ({ network_id: network.chainId, raw }));
  });
  app.post(
    TRANSACTIONS_PATH,
    { schema: post, bodyLimit: MAX_BODY_BYTES, config: { rate } },
    async (request, reply): Promise<{ transaction_hash: string }> => {
      const { network_id, raw } = request.body;
      const network = networks.get(network_id);
      if (network === undefined) throw unknownNetwork(network_id, [...networks.keys()]);
      const received = readReceived(operator, network, raw as Hex);
      if (!received.ok) throw invalidTransaction(received.error);
      const { signed } = received.value;
      if (network.transactions.hasHash(signed.hash)) return { transaction_hash: signed.hash };
      await limitNode(request, reply, signed.sender);
      const held = await holdReceived(network, received.value).catch((error: unknown) => {
        if (error instanceof RpcError || !(error instanceof ProblemError)) throw error;
        throw invalidTransaction(error.title);
      });
      if (!held.ok) throw invalidTransaction(held.error);
      return { transaction_hash: signed.hash };
    },
  );
}
