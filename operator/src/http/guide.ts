import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "@dataset-oracle/service/app";
import { ProblemError } from "@dataset-oracle/service/problem";
import serveStatic from "@fastify/static";

/** Where `npm run docs` renders the documents. */
const FOLDER = join(import.meta.dirname, "..", "..", "..", "docs", "dist");

/** What its pages may load: their own style, script and icon. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * `GET /guide/`: the documents as a site.
 *
 * @param requestsPerMinute Requests a minute that one caller may make, apart from those to the API.
 */
export async function addGuide(app: App, requestsPerMinute: number, folder: string = FOLDER): Promise<void> {
  if (!existsSync(folder)) {
    app.get("/guide/", { schema: { hide: true } }, async () => {
      throw notRendered();
    });
    return;
  }
  const rate = { name: "guide", perMinute: requestsPerMinute };
  app.addHook("onRoute", (route) => {
    route.config = { ...route.config, rate };
  });
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("content-security-policy", POLICY);
  });
  // The site's links are relative, so that a slash at the end matters.
  app.get("/guide", { schema: { hide: true } }, (_request, reply) => reply.redirect("guide/", 301));
  await app.register(serveStatic, {
    root: folder,
    prefix: "/guide/",
    redirect: true,
    decorateReply: false,
    cacheControl: false,
    // A page is asked for anew; its style, script and pictures would use up the limit of requests.
    setHeaders: (reply, path) => {
      reply.setHeader("cache-control", `public, max-age=${path.endsWith(".html") ? 0 : 600}`);
    },
  });
}

function notRendered(): ProblemError {
  return new ProblemError({
    title: "The guide is not there.",
    status: 404,
    code: "no_such_path",
    detail: "It was not rendered when the operator was installed: npm run docs.",
  });
}
