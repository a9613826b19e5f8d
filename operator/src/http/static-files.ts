import { existsSync, readdirSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { App } from "@dataset-oracle/service/app";
import { ProblemError } from "@dataset-oracle/service/problem";
import type { RateLimit } from "@dataset-oracle/service/rate-limit";
import serveStatic from "@fastify/static";
import { LRUCache } from "lru-cache";

const ROOT = join(import.meta.dirname, "..", "..", "..");

/** Allows a site its own files and requests to this operator: nothing from elsewhere, and nothing inline. */
export const STATIC_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A limit of each site's own: opening a page does not use up what a caller may ask of the API. */
export const staticRate = (name: string): RateLimit => ({ name, perMinute: 300 });

const MAX_CACHED_BYTES = 32 * 1024 * 1024;

export interface StaticSite {
  readonly folder: string;
  /** Where it is served, with a slash at the end. */
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

/** Serves the documents at `/guide/`. */
export async function addGuide(app: App, folder = join(ROOT, "docs", "dist"), rate = staticRate("guide")) {
  if (existsSync(join(folder, "index.html"))) return addSite(app, { folder, prefix: "/guide/", rate });
  app.get("/guide/", { schema: { hide: true } }, async () => {
    throw new ProblemError({
      title: "The guide is not there.",
      status: 404,
      code: "no_such_path",
      detail: "It was not rendered when the operator was installed: npm run docs.",
    });
  });
}

/**
 * Serves a folder as a site. Each file has its own route, so that no request is a path into the folder and anything else
 * is answered as any unknown path is.
 */
async function addSite(app: App, { folder, prefix, rate }: StaticSite): Promise<void> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".gz"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
  await app.register(async (scope) => {
    await scope.register(serveStatic, { root: folder, serve: false, preCompressed: true, cacheControl: false });
    shareBytes(scope as unknown as App);
    for (const name of names) {
      const isIndex = posix.basename(name) === "index.html";
      // The names of built assets change with their content.
      const caching = name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
      const url = prefix + (isIndex ? name.slice(0, -"index.html".length) : name);
      // Fastify serves the root of a scope without its slash, too, by itself.
      for (const each of isIndex && url !== "/" ? [url, url.slice(0, -1)] : [url]) {
        scope.get(each, { schema: { hide: true }, config: { rate } }, (request, reply) => {
          const path = request.url.split("?", 1)[0] ?? "/";
          // The links of a site are relative, and so is this one: a proxy may add a path of its own in front.
          if (isIndex && !path.endsWith("/")) return reply.redirect(`${posix.basename(path)}/`, 308);
          reply.headers({
            "content-security-policy": STATIC_POLICY,
            "cache-control": caching,
            vary: "accept-encoding",
          });
          return reply.sendFile(name);
        });
      }
    }
  });
}

/**
 * Replaces the streams of static files by their bytes. A stream keeps its file open while its response waits behind others
 * of the same connection, and for ever if the connection ends before its turn: a few callers could use up the process's
 * file descriptors. The bytes are shared, so that waiting responses take no memory either.
 */
export function shareBytes(app: App): void {
  const files = new LRUCache<string, { etag: unknown; size: number; bytes: Promise<Buffer> }>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ size }) => size,
  });
  app.addHook("onSend", async (request, reply, payload) => {
    if (!(payload instanceof Readable) || request.method !== "GET") return payload;
    // A part of a file is not shared: it has the same etag as the whole.
    if (reply.statusCode !== 200) return buffer(payload);
    const path = posix.normalize(decodeURI(request.url.split("?", 1)[0] ?? "/"));
    const key = `${path} ${reply.getHeader("content-encoding")}`;
    const etag = reply.getHeader("etag");
    const known = files.get(key);
    if (known && known.etag === etag) {
      payload.destroy();
      return known.bytes;
    }
    const bytes = buffer(payload);
    bytes.catch(() => files.delete(key));
    files.set(key, { etag, size: Number(reply.getHeader("content-length")) + 1, bytes });
    return bytes;
  });
}
