import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { App } from "@dataset-oracle/service/http-server/app";
import { noSuchPath } from "@dataset-oracle/service/http-server/http-problems";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import type { RateLimit } from "@dataset-oracle/service/http-server/rate-limit";
import serveStatic from "@fastify/static";
import { LRUCache } from "lru-cache";

const ROOT = join(import.meta.dirname, "..", "..", "..", "..");

/** A site may load its own files and query this operator: nothing from other origins, and nothing inline. */
export const STATIC_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Returns a limit for one site, so that opening a page does not use up the caller's limit for the API. */
const staticRate = (name: string): RateLimit => ({ name, perMinute: 300 });

/** A site's page for unknown paths. */
const NOT_FOUND = "404.html";

/** The placeholder in that page for the site's path, because the page can be the answer at any depth below it. */
export const SITE_PATH_PLACEHOLDER = "/__guide__/";

const MAX_CACHED_BYTES = 32 * 1024 * 1024;

interface Site {
  readonly folder: string;
  /** The path that it is served below, with a trailing slash. */
  readonly prefix: string;
  readonly rate: RateLimit;
}

/**
 * Serves the operator's page at `/`.
 *
 * @returns false if it has not been built.
 */
export async function addPage(app: App, folder = join(ROOT, "operator", "page", "dist")): Promise<boolean> {
  if (!existsSync(join(folder, "index.html"))) return false;
  await addSite(app, { folder, prefix: "/", rate: staticRate("page") });
  return true;
}

/** Serves the documentation at `/guide/`. */
export async function addGuide(app: App, folder = join(ROOT, "docs", "dist"), rate = staticRate("guide")) {
  if (existsSync(join(folder, "index.html"))) return addSite(app, { folder, prefix: "/guide/", rate });
  app.get("/guide/", { schema: { hide: true } }, async () => {
    throw new ProblemError(404, "no_such_path", {
      title: "This operator has no guide.",
      detail: 'The operator\'s owner can build it with "npm run docs" and restart the operator.',
    });
  });
}

/**
 * Serves a folder as a site. Each file has its own route: no request is resolved to a path in the folder, and a missing
 * file is answered like any unknown path. So is a link. If the site has a page for unknown paths, a browser gets that one.
 */
async function addSite(app: App, { folder, prefix, rate }: Site): Promise<void> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".gz"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((name) => name !== NOT_FOUND);
  await app.register(async (scope) => {
    await scope.register(serveStatic, { root: folder, serve: false, preCompressed: true, cacheControl: false });
    shareBytes(scope as unknown as App);
    for (const name of names) {
      const isIndex = posix.basename(name) === "index.html";
      // The name of a built asset contains a hash of its content.
      const caching = name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
      const url = prefix + (isIndex ? name.slice(0, -"index.html".length) : name);
      // Fastify itself registers the root of a prefix with and without a slash.
      for (const each of isIndex && url !== "/" ? [url, url.slice(0, -1)] : [url]) {
        scope.get(each, { schema: { hide: true }, config: { rate } }, async (request, reply) => {
          const path = request.url.split("?", 1)[0] ?? "/";
          // Relative, because a proxy may serve the operator below another path.
          if (isIndex && !path.endsWith("/")) return reply.redirect(`${posix.basename(path)}/`, 308);
          reply.headers({
            "content-security-policy": STATIC_CSP,
            "cache-control": caching,
            vary: "accept-encoding",
          });
          return reply.sendFile(name);
        });
      }
    }
    const notFound = join(folder, NOT_FOUND);
    if (existsSync(notFound)) addNotFound(scope as unknown as App, { prefix, rate }, readFileSync(notFound, "utf8"));
  });
}

/** Answers unknown paths below a site: a browser with the site's page for them, a program with the usual problem. */
function addNotFound(app: App, { prefix, rate }: Omit<Site, "folder">, html: string): void {
  const slashes = (path: string) => path.split("/").length - 1;
  const depthOfSite = slashes(app.prefix + prefix);
  app.get(`${prefix}*`, { schema: { hide: true }, config: { rate } }, async (request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "/";
    if (!request.headers.accept?.includes("text/html")) throw noSuchPath(path);
    reply.status(404).type("text/html; charset=utf-8");
    reply.headers({ "content-security-policy": STATIC_CSP, "cache-control": "no-cache", vary: "accept" });
    // Relative, because a proxy may serve the operator below another path.
    return html.replaceAll(SITE_PATH_PLACEHOLDER, "../".repeat(slashes(path) - depthOfSite) || "./");
  });
}

/**
 * Replaces the streams of static files with their bytes. A stream keeps its file open while its response waits behind
 * other pipelined responses, and forever if the connection closes first, so a few callers could exhaust the file
 * descriptors of the process. Responses share the bytes, so waiting ones do not exhaust memory either.
 */
function shareBytes(app: App): void {
  const files = new LRUCache<string, { size: number; bytes: Promise<Buffer> }>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ size }) => size,
  });
  app.addHook("onSend", async (request, reply, payload) => {
    if (!(payload instanceof Readable) || request.method !== "GET") return payload;
    // A partial response is not shared, because it has the etag of the whole file.
    if (reply.statusCode !== 200) return buffer(payload);
    // A file that was replaced has another etag, and so has its compressed form.
    const key = `${request.routeOptions.url} ${reply.getHeader("etag")}`;
    const known = files.get(key);
    if (known !== undefined) {
      payload.destroy();
      return known.bytes;
    }
    const bytes = buffer(payload);
    bytes.catch(() => files.delete(key));
    files.set(key, { size: Number(reply.getHeader("content-length")) + 1, bytes });
    return bytes;
  });
}
