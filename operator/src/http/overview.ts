import { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import type { Overview } from "../overview/overview.js";
import { chainProblems } from "./problem-responses.js";

const schema = {
  tags: ["data"],
  operationId: "readOverview",
  summary: "Lists everything that is served, with the values that are stored now.",
  description: "The operator's page shows it. A network that cannot be read now is listed without values.",
  response: {
    200: jsonAnswer("The networks, their datasets and their data points.", OverviewAnswer),
    ...chainProblems(),
  },
};

/** Adds `GET /overview`. Its rate limit is its own, so that looking does not use up the data requests of a caller. */
export function addOverview(app: App, overview: Overview, requestsPerMinute: number): void {
  const config = { rate: { name: "overview", perMinute: requestsPerMinute } };
  app.get("/overview", { schema, config }, () => overview.read());
}
