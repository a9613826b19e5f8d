import { DataPointAnswer, DataQuery } from "@dataset-oracle/protocol/http-schemas/data";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { readView } from "../../dataset/contract.js";
import { readStored } from "../../dataset/stored-values.js";
import { findDataPoint } from "../../routes/find-data-point.js";
import { problemsOf } from "../../routes/problem-responses.js";
import { addQueryStringRoute } from "../../routes/query-string-route.js";
import { SingleFlight } from "../../update/single-flight.js";
import type { IndexedKey } from "./find-history.js";
import { readLastRounds } from "./last-rounds.js";
import { MinedReports } from "./mined-reports.js";
import type { Overview } from "./overview.js";
import type { IndexOf } from "./plugin.js";

/** How long an answer is reused before the data point is read again. */
const REMEMBER_MS = 1_000;

const schema = {
  tags: ["data"],
  operationId: "readDataPoint",
  summary: "Reads a data point as it is stored, with the reports behind it.",
  description:
    "The reports are read from the transaction that stored the value. The request sends no transaction and costs nothing.",
  querystring: DataQuery,
  response: { 200: jsonAnswer("The data point.", DataPointAnswer), ...problemsOf("readDataPoint") },
};

/** Adds `GET /data`. */
export function addData(app: App, overview: Overview, { indexOf, blocksOf }: IndexOf, requestsPerMinute: number): void {
  const { context, networks } = app.operator;
  const shared = new SingleFlight<DataPointAnswer>(context.clock, REMEMBER_MS);
  const mined = new MinedReports();

  async function read(indexed: IndexedKey): Promise<DataPointAnswer> {
    const { dataset, key } = indexed;
    const [price, stored] = await Promise.all([readView(dataset, "queryPrice"), readStored(dataset, key, "latest")]);
    const found =
      stored.updatedAt === 0n ? null : await readLastRounds(indexed, mined, blocksOf(dataset), context.clock);
    return {
      network_id: dataset.chainId,
      dataset: dataset.address,
      ...(await overview.describe(dataset, key, stored)),
      query_price: price.toString(),
      last_update: found?.last ?? null,
      agreement: found?.agreement ?? null,
      last_rounds: found?.lastRounds ?? [],
    };
  }

  addQueryStringRoute(app, "/data", schema, { name: "data", perMinute: requestsPerMinute }, async (query) => {
    const { dataset, key } = findDataPoint(networks, query, "invalid_query");
    const id = `${dataset.chainId} ${dataset.address} ${key}`;
    return shared.run(id, () => read({ dataset, key, index: indexOf(dataset) })).result;
  });
}
