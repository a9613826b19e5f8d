import type { App } from "@dataset-oracle/service/http-server/app";
import cors from "@fastify/cors";

/** Lets pages of any origin ask and read answers: dapps call from their own pages, and there is no login to protect. */
export async function allowAnyOrigin(app: App): Promise<void> {
  await app.register(cors, {
    origin: "*",
    methods: ["GET", "POST"],
    allowedHeaders: ["content-type", "accept", "prefer", "traceparent", "x-request-id"],
    exposedHeaders: ["retry-after", "preference-applied", "x-request-id", "ratelimit", "ratelimit-policy", "link"],
    maxAge: 86_400,
    // OPTIONS is answered with 204 even without the headers of a browser's preflight.
    strictPreflight: false,
  });
}
