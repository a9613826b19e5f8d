import { OverviewAnswer } from "@dataset-oracle/protocol/wire-data";
import type { App } from "@dataset-oracle/service/app";
import type { Overview } from "../overview/overview.js";
import { PROBLEMS } from "./openapi.js";

const schema = {
  tags: ["data"],
  summary: "What is served, with the values that are stored now.",
  description: "For people, and the page shows it. A network that cannot be read now is there without values.",
  response: {
    200: { description: "Every data point.", content: { "application/json": { schema: OverviewAnswer } } },
    ...PROBLEMS,
  },
};

/** `GET /overview`. Whoever looks has a limit of requests of its own: it is no data request. */
export function addOverview(app: App, overview: Overview, requestsPerMinute: number): void {
  const config = { rate: { name: "overview", perMinute: requestsPerMinute } };
  app.get("/overview", { schema, config }, () => overview.read());
}
