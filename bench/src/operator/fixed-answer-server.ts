// A baseline: a Fastify server that has the schemas of a data request and its answer, and always sends the same answer.
// It has no logs and no limits.

import { once } from "node:events";
import { DataAnswer, DataRequest } from "@dataset-oracle/protocol/http-schemas/data-request";
import { processRegistry } from "@dataset-oracle/service/http-server/metrics";
import { serveMetrics } from "@dataset-oracle/service/http-server/serve";
import Fastify from "fastify";

const [answer] = (await once(process, "message")) as [DataAnswer];
const app = Fastify();
app.post("/data/request", { schema: { body: DataRequest, response: { 200: DataAnswer } } }, async () => answer);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
const metrics = await serveMetrics(processRegistry(), { metricsHost: "127.0.0.1", metricsPort: 0 }, () => true);
process.send?.({ requestUrl: `${url}/data/request`, metricsUrl: metrics.url });
process.once("disconnect", () => process.exit());
