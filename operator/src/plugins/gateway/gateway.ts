import { decodeFetchUpdateCall } from "@dataset-oracle/protocol/decode-fetch-update-call";
import { GatewayAnswer, GatewayRequest } from "@dataset-oracle/protocol/http-schemas/gateway";
import type { App } from "@dataset-oracle/service/http-server/app";
import { callerIdOf } from "@dataset-oracle/service/http-server/caller-address";
import { jsonAnswer } from "@dataset-oracle/service/http-server/openapi";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { findDataPoint, type RequestedDataPoint } from "../../routes/find-data-point.js";
import { gatewayErrorsOf } from "../../routes/problem-responses.js";
import { notReady, problem } from "../../routes/problems.js";
import { readBlockIntervalMs, readHead } from "../../rpc/blocks.js";
import type { ChainClient } from "../../rpc/client.js";
import { SingleFlight } from "../../single-flight.js";

const NETWORK = Type.String({ description: "The chain id of the dataset's network." });

const schemaOf = <const Route extends "fetchUpdate" | "fetchUpdateByPath">(operationId: Route, summary: string) => ({
  tags: ["data"],
  operationId,
  summary,
  description:
    "An ERC-3668 gateway: `client.readContract` of viem and `enableCcipRead` of ethers query it on behalf of a lens, " +
    "which then proves the update on chain within the same `eth_call`. A lookup counts as a data request without " +
    "broadcast. If the newest block is older than the round, the answer waits for the next block, for three block " +
    "intervals at most.",
  response: {
    200: jsonAnswer("A packed update, with which the lens continues.", GatewayAnswer),
    ...gatewayErrorsOf(operationId, statusOf),
  },
});

const getSchema = {
  ...schemaOf(
    "fetchUpdateByPath",
    "Returns an update to a lens that names this gateway as `.../gateway/{networkId}/{sender}/{data}`.",
  ),
  params: Type.Object({ networkId: NETWORK, ...GatewayRequest.properties }),
};

const postSchema = {
  ...schemaOf("fetchUpdate", "Returns an update to a lens that names this gateway as `.../gateway/{networkId}`."),
  params: Type.Object({ networkId: NETWORK }),
  body: GatewayRequest,
};

/**
 * The operator's gateway (ERC-3668): `GET /gateway/:networkId/:sender/:data` and `POST /gateway/:networkId`.
 * The sender of the call does not matter, because updates are public and prove themselves.
 */
export async function gateway(scope: FastifyInstance): Promise<void> {
  const app = scope as unknown as App;
  const { context } = app.operator;
  // Everyone who waits for the same round shares the calls.
  const waits = new SingleFlight<void>(context.clock, { rememberMs: REMEMBER_MS });

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    dataPoint: RequestedDataPoint,
  ): Promise<GatewayAnswer> {
    const { dataset, updates, key } = dataPoint;
    const prepare = async () => {
      await app.limitNewKeys(request, reply, dataset, key);
      return updates.prepare(key, { payer: callerIdOf(request.ip), trace: request.trace, listener: () => {} });
    };
    const { round, transaction } = updates.preparedAnswer(key) ?? (await prepare());
    const { client, chainId } = dataset;
    await waits.run(`${chainId} ${round}`, () => waitForRound(client, Number(round), context)).result;
    return { data: transaction.packed };
  }

  // Errors have the standard's form on these routes only.
  app.setErrorHandler((error, request, reply) => {
    const { title, detail, code, status, headers } = request.toProblem(error);
    return reply
      .status(statusOf(status))
      .headers(headers)
      .type("application/json")
      .send({ message: `${title} ${detail}`, code });
  });
  app.addHook("onSend", async (_request, reply) => void reply.header("cache-control", "no-store"));

  app.get("/gateway/:networkId/:sender/:data", { schema: getSchema }, (request, reply) =>
    answer(request, reply, dataPointOf(request.params.networkId, request.params)),
  );
  app.post("/gateway/:networkId", { schema: postSchema }, (request, reply) =>
    answer(request, reply, dataPointOf(request.params.networkId, request.body)),
  );

  function dataPointOf(networkId: string, { sender, data }: GatewayRequest): RequestedDataPoint {
    if (!/^[1-9][0-9]{0,15}$/.test(networkId)) throw invalidLookup("The network must be a chain id in decimal digits.");
    if (!/^0x[0-9a-f]{40}$/i.test(sender)) throw invalidLookup("The sender must be an address: 0x and 40 hex digits.");
    const call = decodeFetchUpdateCall(data);
    if (call === null) {
      throw invalidLookup("The data must be the calldata of fetchUpdate(address,bytes), in hex, as a lens encodes it.");
    }
    return findDataPoint(app.operator, { network_id: Number(networkId), ...call }, "bad_request");
  }
}

/** The gateway got a lookup that no lens would send. @param detail A sentence. */
const invalidLookup = (detail: string) => problem("bad_request", {}, { title: "The lookup is not valid.", detail });

/**
 * Returns the status in the sense of ERC-3668: after 4xx a client stops, after 5xx it asks the next gateway. A rate
 * limit is this operator's own, so another gateway may answer; and ethers would send a request that is answered with
 * 429 up to twelve times.
 */
function statusOf(status: number): number {
  return status === 429 ? 503 : status;
}

/** How many block intervals without a block pass on a chain that makes its blocks by itself. */
const MISSED_BLOCKS = 3;
/** The shortest interval that counts: times of blocks are whole seconds. */
const LEAST_INTERVAL_MS = 1_000;
/** A block is never older than this on a chain with an interval of at most a second, however late it arrives. */
const LATE_MS = 5_000;
const POLL_MS = 1_000;
/** A wait that is over is remembered for a while: requests name a new round each second. */
const REMEMBER_MS = 10_000;
/** A block that has just arrived here is not yet at every other node. */
const SPREAD_MS = 1_000;

/**
 * Waits until the newest block is not older than a round: `eth_call` executes in the newest block, with its time, and a
 * dataset refuses a round that is later. On a chain with a block every 12 seconds, most current rounds are.
 *
 * @param round Seconds since 1970.
 * @throws ProblemError where blocks are made on demand, or have stopped. RpcError
 */
async function waitForRound(
  client: ChainClient,
  round: number,
  { clock, closing }: Pick<Context, "clock" | "closing">,
): Promise<void> {
  const first = await readHead(client);
  if (first.timestamp >= round) return;
  const patienceMs = MISSED_BLOCKS * Math.max(LEAST_INTERVAL_MS, await readBlockIntervalMs(client));
  const noBlock = () => {
    const title = `The newest block of network ${client.chain.id} is ${round - first.timestamp} s old.`;
    const detail =
      "A read executes in it, and the dataset refuses values that are newer. If the chain makes blocks on demand, make " +
      "one by any transaction, and read again.";
    return notReady(client.chain.id, { title, detail });
  };
  if ((round - first.timestamp) * 1_000 > Math.max(LATE_MS, patienceMs)) throw noBlock();
  const giveUpAt = clock.monotonic() + patienceMs;
  do {
    if (clock.monotonic() >= giveUpAt) throw noBlock();
    await wait(POLL_MS, closing);
    closing.throwIfAborted();
  } while ((await readHead(client)).timestamp < round);
  await wait(SPREAD_MS, closing);
  closing.throwIfAborted();
}
