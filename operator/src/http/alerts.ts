import type { App } from "@dataset-oracle/service/http-server/app";
import { RATE_HEADERS } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import { toAtom } from "../alerts/atom-feed.js";
import type { Operator } from "../operator.js";
import { LIMITED_PROBLEMS } from "./problem-responses.js";

const schema = {
  tags: ["data"],
  operationId: "readAlerts",
  summary: "Lists what went wrong with the feeds recently, as an Atom feed.",
  description:
    "There is an entry each time a feed becomes stale (not updated within one and a half heartbeats, or since the " +
    "operator started if it was never stored), its providers disagree or have no value, or it recovers: the last 100 " +
    "since the operator started. The category of an entry is `stale`, `disagreement`, `no_value` or `recovered`.",
  response: {
    200: {
      description: "The feed (RFC 4287).",
      headers: RATE_HEADERS,
      content: { "application/atom+xml": { schema: Type.String() } },
    },
    ...LIMITED_PROBLEMS,
  },
};

/** Adds `GET /alerts`, for feed readers. Its rate limit is its own, so that a reader uses up no data requests. */
export function addAlerts(app: App, { alerts, clock }: Operator, requestsPerMinute: number): void {
  const startedAt = Math.floor(clock() / 1000);
  const config = { rate: { name: "alerts", perMinute: requestsPerMinute } };
  app.get("/alerts", { schema, config }, async (_, reply) => {
    reply.type("application/atom+xml; charset=utf-8");
    return toAtom(alerts, startedAt);
  });
}
