import { DataPointAnswer, DataQuery } from "@dataset-oracle/protocol/http-schemas/data";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { readView } from "../chain/read-view.js";
import { readStored } from "../chain/stored-values.js";
import type { DataPoint } from "../data-point.js";
import type { Operator } from "../operator.js";
import type { Overview } from "../overview/overview.js";
import { invalidParameter } from "../problems.js";
import { MinedReports } from "../rounds/mined-reports.js";
import { readLastRounds } from "../rounds/read-last-rounds.js";
import { SingleFlight } from "../single-flight.js";
import { addQueryStringRoute } from "./add-query-string-route.js";
import { findDataPoint } from "./find-data-point.js";
import { dataPointProblems, INVALID_QUERY } from "./problem-responses.js";

/** How long an answer is reused before the data point is read again. */
const REMEMBER_MS = 1_000;

const schema = {
  tags: ["data"],
  operationId: "readDataPoint",
  summary: "Reads a data point as it is stored, with the reports behind it.",
  description:
    "The reports are read from the transaction that stored the value. The request sends no transaction and costs nothing.",
  querystring: DataQuery,
  response: {
    200: jsonAnswer("The data point.", DataPointAnswer),
    ...dataPointProblems(INVALID_QUERY),
  },
};

/** Adds `GET /data`. */
export function addData(app: App, operator: Operator, overview: Overview, requestsPerMinute: number): void {
  const shared = new SingleFlight<DataPointAnswer>(operator.clock, REMEMBER_MS);
  const rounds = new MinedReports();
  addQueryStringRoute(app, "/data", schema, { name: "data", perMinute: requestsPerMinute }, async ({ query }) => {
    const dataPoint = findDataPoint(operator.networks, query, invalidParameter);
    return shared.run(dataPoint.id, () => read(operator, overview, rounds, dataPoint)).result;
  });
}

async function read(
  operator: Operator,
  overview: Overview,
  rounds: MinedReports,
  dataPoint: DataPoint,
): Promise<DataPointAnswer> {
  const { network, dataset, key } = dataPoint;
  const [price, stored] = await Promise.all([
    readView(network.client, dataset.address, "queryPrice"),
    readStored(network.client, dataset.address, key, "latest"),
  ]);
  const found = stored.updatedAt === 0n ? null : await readLastRounds(operator, rounds, dataPoint);
  return {
    network_id: network.chainId,
    dataset: dataset.address,
    ...(await overview.describe(dataPoint, stored)),
    query_price: price.toString(),
    last_update: found?.last ?? null,
    agreement: found?.agreement ?? null,
    last_rounds: found?.lastRounds ?? [],
  };
}
