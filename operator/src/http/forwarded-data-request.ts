import { ForwardedAnswer, ForwardedRequest } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import { NODE_SIGNATURE_HEADER } from "@dataset-oracle/protocol/node-request-signature";
import type { App } from "@dataset-oracle/service/http-server/app";
import { ANY_BODY, jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import type { OperatorConfig } from "../config.js";
import type { Operator } from "../operator.js";
import { FORWARDED_PATH } from "../peers/forwarding.js";
import { invalidProperty, unknownNode } from "../problems.js";
import { findDataPoint } from "./find-data-point.js";
import { newKeyLimitOfNodes } from "./new-key-limits.js";
import { nodeLimits } from "./node-rate-limits.js";
import { dataPointProblems } from "./problem-responses.js";
import { unlessClosing } from "./unless-closing.js";

const schema = {
  tags: ["nodes"],
  operationId: "updateForNode",
  summary:
    "Updates a data point for another node, which has forwarded a broadcast to the node whose turn it is to serve the key.",
  description:
    "Only for nodes of the same network, which sign their requests with the key of their submitter. The request is " +
    "served here and never forwarded again. Each node has a rate limit and a share of the gas budgets, as callers " +
    "have.",
  headers: Type.Object({
    [NODE_SIGNATURE_HEADER]: Type.Optional(
      Type.String({ description: "The time in milliseconds since 1970, a space, and an EIP-712 signature." }),
    ),
  }),
  body: ForwardedRequest,
  response: {
    200: jsonAnswer("What is stored or about to be, with this node's transaction for it.", ForwardedAnswer),
    ...dataPointProblems(ANY_BODY, {
      401: ["unknown_node"],
      422: ["unknown_key"],
      429: ["gas_budget_spent"],
      503: ["no_quorum", "update_reverted", "out_of_funds", "fees_too_high"],
    }),
  },
};

/** Adds `POST /data/request/forwarded`. */
export function addForwardedDataRequest(
  app: App,
  operator: Operator,
  { nodeRequestsPerMinute, newKeysPerMinute }: Pick<OperatorConfig, "nodeRequestsPerMinute" | "newKeysPerMinute">,
): void {
  const { rate, limitNode } = nodeLimits(app, "forwarded", nodeRequestsPerMinute);
  const limitNewKeys = newKeyLimitOfNodes(app, newKeysPerMinute);
  app.post(FORWARDED_PATH, { schema, config: { rate } }, async (request, reply) => {
    const authentication = operator.networks.get(request.body.network_id)?.authentication;
    const signature = request.headers[NODE_SIGNATURE_HEADER]?.toString();
    const node = authentication?.verify(signature, FORWARDED_PATH, JSON.stringify(request.body)) ?? null;
    if (node === null) throw unknownNode();
    await limitNode(request, reply, node.submitter);
    const dataPoint = findDataPoint(operator.networks, request.body, invalidProperty);
    await limitNewKeys(request, reply, node.submitter, dataPoint);
    const caller = { payer: `node ${node.submitter}`, trace: request.trace, listener: () => {} };
    const round = BigInt(request.body.timestamp);
    return operator.updates.broadcastForwarded(dataPoint, round, caller).catch(unlessClosing(operator));
  });
}
