// Importers of this file need the plugin's additions to Fastify's types.
/// <reference types="@fastify/swagger" preserve="true" />

import swagger from "@fastify/swagger";
import type { App } from "./app.js";

/** The facts about the service as a whole. */
export interface ApiDescription {
  readonly title: string;
  readonly description: string;
  /** The party responsible for the service, in words. */
  readonly contact: string;
  /** The groups of operations, each with its description. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Collects the schemas of all routes registered afterwards. */
export async function gatherSchemas(app: App, { title, description, contact, tags }: ApiDescription): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title,
        description,
        version: "1",
        contact: { name: contact },
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/", description: "The service that serves this document." }],
      // No operation needs a key.
      security: [],
      tags: Object.entries(tags).map(([name, about]) => ({ name, description: about })),
    },
  });
}

/** Adds `GET /openapi.json`, generated once from the schemas that validate requests. */
export function addOpenApi(app: App): void {
  // Writing the document anew for each request would cost more than all else that is done for it.
  let document: string | undefined;
  app.get("/openapi.json", { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.type("application/json; charset=utf-8").send(document);
  });
}
