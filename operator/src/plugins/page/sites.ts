import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "@dataset-oracle/service/http-server/app";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import type { RateLimit } from "@dataset-oracle/service/http-server/rate-limit";
import { addStaticSite } from "@dataset-oracle/service/http-server/static-site";

const ROOT = join(import.meta.dirname, "..", "..", "..", "..");

/** Returns a limit for one site, so that opening a page does not use up the caller's limit for the API. */
const siteRate = (name: string): RateLimit => ({ name, perMinute: 300 });

/**
 * Serves the operator's page at `/`.
 *
 * @returns false if it has not been built.
 */
export async function addPage(app: App, folder = join(ROOT, "operator", "page", "dist")): Promise<boolean> {
  if (!existsSync(join(folder, "index.html"))) return false;
  await addStaticSite(app, { folder, prefix: "/", rate: siteRate("page") });
  return true;
}

/** Serves the documentation at `/guide/`. */
export async function addGuide(app: App, folder = join(ROOT, "docs", "dist"), rate = siteRate("guide")): Promise<void> {
  if (existsSync(join(folder, "index.html"))) return addStaticSite(app, { folder, prefix: "/guide/", rate });
  app.get("/guide/", { schema: { hide: true } }, async () => {
    throw new ProblemError(404, "no_such_path", {
      title: "This operator has no guide.",
      detail: 'The operator\'s owner can build it with "npm run docs" and restart the operator.',
    });
  });
}
