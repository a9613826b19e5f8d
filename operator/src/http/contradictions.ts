import { ContradictionAnswer, ContradictionQuery } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import type { Operator } from "../operator.js";
import { invalidParameter } from "../problems.js";
import { writeStatement } from "../statements/statement.js";
import { addQueryStringRoute } from "./add-query-string-route.js";
import { costlyRate } from "./costly-rate.js";
import { findDataset } from "./find-data-point.js";
import { datasetProblems, INVALID_QUERY } from "./problem-responses.js";

/** One row can be up to 200 kB. */
const MAX_LISTED = 16;
/** A caller's limit is that of data requests divided by this, because an answer can have several megabytes. */
const COST_IN_REQUESTS = 3;

const schema = {
  tags: ["nodes"],
  operationId: "listContradictions",
  summary:
    "Lists the providers of a dataset that signed two conflicting statements about one key and round, with the proof.",
  description:
    "The last 16 that this operator has found since it started. It counts such a provider as absent. Anyone can give the two " +
    "statements to the dataset's `accuse`, which ejects the provider from a committee of five or more.",
  querystring: ContradictionQuery,
  response: {
    200: jsonAnswer("The newest first.", Type.Array(ContradictionAnswer)),
    ...datasetProblems(INVALID_QUERY),
  },
};

/** Adds `GET /contradictions`. */
export function addContradictions(app: App, { networks }: Operator, requestsPerMinute: number): void {
  const rate = costlyRate("contradictions", requestsPerMinute, COST_IN_REQUESTS);
  addQueryStringRoute(app, "/contradictions", schema, rate, async ({ query }): Promise<ContradictionAnswer[]> => {
    const { network, dataset } = findDataset(networks, query, invalidParameter);
    const about = { network_id: network.chainId, dataset: dataset.address };
    const found = network.statements.contradictions.filter((one) => one.dataset === dataset);
    return found.slice(0, MAX_LISTED).map(({ provider, key, round, statements }) => ({
      ...about,
      provider,
      key,
      timestamp: Number(round),
      statements: statements.map((statement) => writeStatement(network.chainId, dataset.address, statement)),
    }));
  });
}
