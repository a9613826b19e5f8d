import { DataPointAnswer, DataQuery } from "@dataset-oracle/protocol/wire-data";
import type { App } from "@dataset-oracle/service/app";
import { readQueryPrice } from "../chain/dataset.js";
import { readPoint } from "../chain/stored-points.js";
import { type DataPoint, findDataPoint } from "../data-point.js";
import type { Operator } from "../operator.js";
import { readLastUpdate } from "../overview/last-update.js";
import type { Overview } from "../overview/overview.js";
import { SingleFlight } from "../single-flight.js";
import { PROBLEMS } from "./openapi.js";
import { checkQuery } from "./query.js";

/** How long a data point is shown without being read again. */
const SHOWN_MS = 1_000;

const schema = {
  tags: ["data"],
  summary: "A data point as it is stored, and who signed it.",
  description: "Who signed is read from the transaction that stored it. Nothing is sent, and nothing is paid.",
  querystring: DataQuery,
  response: {
    200: { description: "What the chain has.", content: { "application/json": { schema: DataPointAnswer } } },
    ...PROBLEMS,
  },
};

/** `GET /data`. Whoever looks has a limit of requests of its own: it is no data request. */
export function addData(app: App, operator: Operator, overview: Overview, requestsPerMinute: number): void {
  const shared = new SingleFlight<DataPointAnswer>(operator.clock, SHOWN_MS);
  const config = { rate: { name: "data", perMinute: requestsPerMinute } };
  app.get("/data", { schema, config, attachValidation: true }, (request): Promise<DataPointAnswer> => {
    checkQuery(request);
    const { network_id, dataset, key } = request.query;
    const asked = { network_id: Number(network_id), dataset, key, broadcast: false };
    const dataPoint = findDataPoint(operator.networks, asked);
    return shared.run(dataPoint.id, () => read(operator, overview, dataPoint)).result;
  });
}

async function read(operator: Operator, overview: Overview, dataPoint: DataPoint): Promise<DataPointAnswer> {
  const { network, dataset, key } = dataPoint;
  const [price, stored] = await Promise.all([
    readQueryPrice(network.client, dataset.address),
    readPoint(network.client, dataset.address, key, "latest"),
  ]);
  return {
    network_id: network.chainId,
    dataset: dataset.address,
    ...(await overview.describe(network, dataset, key, stored)),
    query_price: price.toString(),
    last_update: stored.updatedAt === 0n ? null : await readLastUpdate(operator, dataPoint),
  };
}
