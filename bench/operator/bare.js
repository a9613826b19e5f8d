// A bare Fastify server: the schemas of a data request and of its answer, and always the same answer, which its parent
// sends. Nothing else: no logs, no limits.

import { once } from "node:events";
import { DataAnswer, DataRequest } from "@dataset-oracle/protocol/wire";
import { processRegistry, serveMetrics } from "@dataset-oracle/service/metrics";
import Fastify from "fastify";

const [answer] = await once(process, "message");
const app = Fastify();
app.post("/data/request", { schema: { body: DataRequest, response: { 200: DataAnswer } } }, async () => answer);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
const figures = await serveMetrics(processRegistry(), { metricsHost: "127.0.0.1", metricsPort: 0 });
process.send?.({ requestUrl: `${url}/data/request`, metricsUrl: figures.url });
process.once("disconnect", () => process.exit());
