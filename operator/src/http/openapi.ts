import { Problem } from "@dataset-oracle/protocol/wire";
import type { App } from "@dataset-oracle/service/app";
import swagger from "@fastify/swagger";
import { Type } from "@sinclair/typebox";
import { docsPage, type OpenApi } from "./docs-page.js";

const header = (description: string) => Type.String({ description });

/** The caller's rate limits, as every answer but those of health has them. */
export const RATE_HEADERS = {
  "RateLimit-Policy": header("The limits that count this request: q requests in w seconds."),
  RateLimit: header("How many requests r each of them has left, and in how many seconds t it begins anew."),
};

/** What every route of the API answers beside its 200. */
export const PROBLEMS = {
  429: {
    description: "A limit is used up: too_many_requests, too_many_broadcasts or gas_budget_spent.",
    headers: { ...RATE_HEADERS, "Retry-After": header("When to try again, in seconds.") },
    content: { "application/problem+json": { schema: Problem } },
  },
  "4xx": { description: "A problem of the request.", content: { "application/problem+json": { schema: Problem } } },
  "5xx": { description: "A problem on this side.", content: { "application/problem+json": { schema: Problem } } },
};

/** Gathers the schemas of all routes. It belongs before them. */
export async function gatherSchemas(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Dataset Oracle operator",
        description:
          "Updates data points of dataset contracts: gathers the data providers' signed reports, and sends the update " +
          "transaction or hands it to the caller. Keyless; the path is version 1 for good.",
        version: "1",
        license: { name: "MIT", identifier: "MIT" },
      },
    },
  });
}

/** `GET /openapi.json`, generated from the schemas that requests are checked with, and `GET /docs`, a page to read it. */
export function addDocs(app: App): void {
  const hide = { hide: true } as const;
  app.get("/openapi.json", { schema: hide }, async () => app.swagger());
  app.get("/docs", { schema: hide }, async (_request, reply) => {
    const { html, policy } = docsPage(app.swagger() as OpenApi);
    return reply
      .header("content-security-policy", policy)
      .type("text/html; charset=utf-8")
      .serializer(String)
      .send(html);
  });
}
