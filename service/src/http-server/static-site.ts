import { readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import serveStatic from "@fastify/static";
import { LRUCache } from "lru-cache";
import type { App } from "./app.js";
import { noSuchPath } from "./http-problems.js";
import type { RequestLimit } from "./rate-limit.js";

/** A site may load its own files and query its own server: nothing from other origins, and nothing inline. */
export const STATIC_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A site's page for unknown paths. */
const NOT_FOUND = "404.html";

/** The placeholder in that page for the site's path, because the page can be the answer at any depth below it. */
export const SITE_PATH_PLACEHOLDER = "/__guide__/";

const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** A folder that is served as a site. */
interface Site {
  readonly folder: string;
  /** The path that it is served below, with a trailing slash. */
  readonly prefix: string;
  readonly rate: RequestLimit;
}

/**
 * Serves a folder as a site. Each file has its own route: no request is resolved to a path in the folder, and a missing
 * file is answered like any unknown path. So is a link. If the site has a page for unknown paths, a browser gets that one.
 */
export async function addStaticSite(app: App, { folder, prefix, rate }: Site): Promise<void> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".gz"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
  await app.register(async (scope) => {
    await scope.register(serveStatic, { root: folder, serve: false, preCompressed: true, cacheControl: false });
    shareBytes(scope as unknown as App);
    for (const name of names.filter((each) => each !== NOT_FOUND)) {
      const isIndex = posix.basename(name) === "index.html";
      // The name of a built asset contains a hash of its content.
      const caching = name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
      const url = prefix + (isIndex ? name.slice(0, -"index.html".length) : name);
      // The router ignores a slash at the end, but relative links depend on it.
      scope.get(url, { schema: { hide: true }, config: { rate } }, async (request, reply) => {
        const path = request.url.split("?", 1)[0] ?? "/";
        const target = isIndex ? `${posix.basename(path)}/` : `../${posix.basename(path)}`;
        // Relative, because a proxy may serve this below another path.
        if (path.endsWith("/") !== isIndex) return reply.redirect(target, 308);
        reply.headers({
          "content-security-policy": STATIC_CSP,
          "cache-control": caching,
          vary: "accept-encoding",
        });
        return reply.sendFile(name);
      });
    }
    if (!names.includes(NOT_FOUND)) return;
    addNotFound(scope as unknown as App, { prefix, rate }, readFileSync(join(folder, NOT_FOUND), "utf8"));
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
    // Relative, because a proxy may serve this below another path.
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
