import {
  MAX_POSTED_STATEMENTS,
  ReportsQuery,
  SignedStatement,
} from "@dataset-oracle/protocol/http-schemas/between-nodes";
import type { App } from "@dataset-oracle/service/http-server/app";
import { ANY_BODY, jsonAnswer, problemResponses } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import type { Operator } from "../operator.js";
import { REPORTS_PATH } from "../peers/fetch-reports-from-nodes.js";
import { invalidParameter } from "../problems.js";
import { readStatement, writeStatement } from "../statements/statement.js";
import { addQueryStringRoute } from "./add-query-string-route.js";
import { findDataset } from "./find-data-point.js";
import { datasetProblems, INVALID_QUERY } from "./problem-responses.js";

/** Room for two rows of 256 keys, or as many reports as are taken at once. */
const MAX_BODY_BYTES = 384 * 1024;
/**
 * The rate limit is that of requests times this: nodes on one machine share an address, and a statement costs little to
 * check.
 */
const TIMES_REQUESTS = 10;

const get = {
  tags: ["nodes"],
  operationId: "readReports",
  summary: "Lists the signed reports and rows of a round that this operator holds.",
  description:
    "What members of the dataset's committee have signed, for a node that cannot reach some of them. Each signature " +
    "has been checked. For each signer, key and round only the first one is held, and at most 64 of a signer are " +
    "listed.",
  querystring: ReportsQuery,
  response: {
    200: jsonAnswer("In the order of the committee.", Type.Array(SignedStatement)),
    ...datasetProblems(INVALID_QUERY),
  },
};

const post = {
  tags: ["nodes"],
  operationId: "holdReports",
  summary: "Takes signed reports and rows, for a provider that nodes cannot reach.",
  description:
    "Anyone may post them. Only what a member of the committee has signed is held, for as long as the dataset would " +
    "store the round. The answer says how many are held. They are shown to whoever asks for them, and sent to nobody.",
  body: Type.Array(SignedStatement, { minItems: 1, maxItems: MAX_POSTED_STATEMENTS }),
  response: {
    200: jsonAnswer("How many are held.", Type.Object({ held: Type.Integer() })),
    ...problemResponses([ANY_BODY, { 429: ["too_many_requests"] }]),
  },
};

/** Adds `GET /reports` and `POST /reports`. */
export function addReports(app: App, { networks }: Operator, requestsPerMinute: number): void {
  const rate = { name: "reports", perMinute: TIMES_REQUESTS * requestsPerMinute };
  addQueryStringRoute(app, REPORTS_PATH, get, rate, async ({ query }): Promise<SignedStatement[]> => {
    const { round, key } = query;
    const { network, dataset } = findDataset(networks, query, invalidParameter);
    const held = network.statements.ofRound(dataset, BigInt(round), (key ?? null) as `0x${string}` | null);
    return held.map((statement) => writeStatement(network.chainId, dataset.address, statement));
  });
  app.post(
    REPORTS_PATH,
    { schema: post, config: { rate: { ...rate, name: "posted-reports" } }, bodyLimit: MAX_BODY_BYTES },
    async (request): Promise<{ held: number }> => ({
      held: request.body.filter((json) => {
        const network = networks.get(json.network_id);
        const read = network && readStatement(network, json);
        return read?.ok && network?.statements.add(read.value.dataset, read.value.statement) === "held";
      }).length,
    }),
  );
}
