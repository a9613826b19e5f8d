import { GatewayAnswer, GatewayRequest } from "@dataset-oracle/protocol/http-schemas/gateway";
import { type App, logFailure } from "@dataset-oracle/service/http-server/app";
import { callerIdOf } from "@dataset-oracle/service/http-server/caller-id";
import { toProblem } from "@dataset-oracle/service/http-server/error-to-problem";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { DataPoint } from "../data-point.js";
import type { Operator } from "../operator.js";
import { invalidLookup } from "../problems.js";
import { findDataPoint } from "./find-data-point.js";
import type { NewKeyLimit } from "./new-key-limits.js";
import { parseFetchUpdateCall } from "./parse-fetch-update-call.js";
import { gatewayErrors } from "./problem-responses.js";
import { unlessClosing } from "./unless-closing.js";
import { RoundWait } from "./wait-for-block.js";

const NETWORK = Type.String({ description: "The chain id of the dataset's network." });

const schema = {
  tags: ["data"],
  description:
    "An ERC-3668 gateway: `client.readContract` of viem and `enableCcipRead` of ethers query it on behalf of a lens, " +
    "which then proves the update on chain within the same `eth_call`. A lookup counts as a data request without " +
    "broadcast. If the newest block is older than the round, the answer waits for the next block.",
  response: {
    200: jsonAnswer("The calldata of an update, with which the lens continues.", GatewayAnswer),
    ...gatewayErrors({
      400: ["bad_request", "invalid_body"],
      404: ["unknown_dataset"],
      408: ["bad_request"],
      413: ["body_too_large"],
      415: ["unsupported_media_type"],
      422: ["unknown_network", "invalid_key", "unknown_key"],
      431: ["bad_request"],
      500: ["internal_error"],
      502: ["rpc_failed"],
      503: ["too_many_requests", "no_quorum", "update_reverted", "shutting_down"],
      504: ["rpc_timeout"],
    }),
  },
};

const getSchema = {
  ...schema,
  operationId: "fetchUpdateByPath",
  summary: "Returns an update to a lens that names this gateway as `.../data/gateway/{networkId}/{sender}/{data}`.",
  params: Type.Object({ networkId: NETWORK, ...GatewayRequest.properties }),
};

const postSchema = {
  ...schema,
  operationId: "fetchUpdate",
  summary: "Returns an update to a lens that names this gateway as `.../data/gateway/{networkId}`.",
  params: Type.Object({ networkId: NETWORK }),
  body: GatewayRequest,
};

/**
 * Adds the operator's gateway (ERC-3668): `GET /data/gateway/:networkId/:sender/:data` and `POST /data/gateway/:networkId`.
 * The sender of the call does not matter, because updates are public and prove themselves.
 */
export async function addCcipReadGateway(app: App, operator: Operator, limitNewKeys: NewKeyLimit): Promise<void> {
  const { networks, updates } = operator;
  const roundWait = new RoundWait(operator);

  async function answer(request: FastifyRequest, reply: FastifyReply, dataPoint: DataPoint): Promise<GatewayAnswer> {
    const prepare = async () => {
      await limitNewKeys(request, reply, dataPoint);
      return updates.prepare(dataPoint, { payer: callerIdOf(request.ip), trace: request.trace, listener: () => {} });
    };
    const { timestamp, transaction } = updates.preparedAnswer(dataPoint) ?? (await prepare());
    await roundWait.reach(dataPoint.network, BigInt(timestamp));
    return { data: transaction?.data ?? "0x" };
  }

  // Errors have the standard's form on these routes only.
  await app.register(async (scope) => {
    const routes = scope as unknown as App;
    routes.setErrorHandler((error, request, reply) => {
      const problem = toProblem(error, request.routeOptions.bodyLimit);
      logFailure(request, error, problem);
      request.problemCode = problem.code;
      const { title, detail, code, headers } = problem;
      return reply
        .status(statusOf(problem))
        .headers(headers)
        .type("application/json")
        .send({ message: `${title} ${detail}`, code });
    });
    routes.addHook("onSend", async (_request, reply) => void reply.header("cache-control", "no-store"));

    routes.get("/data/gateway/:networkId/:sender/:data", { schema: getSchema }, (request, reply) =>
      answer(request, reply, dataPointOf(request.params.networkId, request.params)).catch(unlessClosing(operator)),
    );
    routes.post("/data/gateway/:networkId", { schema: postSchema }, (request, reply) =>
      answer(request, reply, dataPointOf(request.params.networkId, request.body)).catch(unlessClosing(operator)),
    );
  });

  function dataPointOf(networkId: string, { sender, data }: GatewayRequest): DataPoint {
    if (!/^[1-9][0-9]{0,15}$/.test(networkId)) throw invalidLookup("The network must be a chain id in decimal digits.");
    if (!/^0x[0-9a-f]{40}$/i.test(sender)) throw invalidLookup("The sender must be an address: 0x and 40 hex digits.");
    const call = parseFetchUpdateCall(data);
    if (!call.ok) throw invalidLookup(call.error);
    const names = { network_id: Number(networkId), ...call.value };
    return findDataPoint(networks, names, (name, problem) => invalidLookup(`${name}: ${problem}`));
  }
}

/**
 * Returns the status in the sense of ERC-3668: after 4xx a client stops, after 5xx it asks the next gateway. A rate
 * limit is this operator's own, so another gateway may answer; and ethers would send a request that is answered with
 * 429 up to twelve times.
 */
function statusOf({ status }: ProblemError): number {
  return status === 429 ? 503 : status;
}
