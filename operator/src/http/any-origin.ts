import type { App } from "@dataset-oracle/service/app";

/** What a page of any origin may read of every answer: dapps ask from their own pages, and there is nothing to log in with. */
export const ANY_ORIGIN = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "retry-after, preference-applied, x-request-id, ratelimit, ratelimit-policy",
};

const PREFLIGHT = {
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "content-type, accept, prefer, traceparent, x-request-id",
  "access-control-max-age": "86400",
};

/** Answers what a browser asks before a page's request, at every path. No limit counts that. */
export function addPreflight(app: App): void {
  app.options("*", { schema: { hide: true }, config: { rate: null } }, (_request, reply) => {
    reply.code(204).headers(PREFLIGHT).send();
  });
}
