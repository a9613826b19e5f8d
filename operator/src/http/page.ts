import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { App } from "@dataset-oracle/service/app";
import type { RateLimit } from "@dataset-oracle/service/rate-limit";
import type { FastifyReply, FastifyRequest } from "fastify";

/** What the page was built into. */
const BUILT = fileURLToPath(new URL("../../page/dist", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Only the page's own files, and this operator: nothing from elsewhere, and nothing inline. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The files take nothing of what a caller may ask for otherwise. */
const RATE: RateLimit = { name: "page", perMinute: 300 };

interface File {
  readonly name: string;
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

/**
 * The page at `/`. Its few files are read and compressed once: no request is a path into a folder.
 *
 * @returns Whether it is there; it is not before it is built.
 */
export function addPage(app: App, folder = BUILT): boolean {
  if (!existsSync(join(folder, "index.html"))) return false;
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    return entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : [];
  });
  for (const file of names.map((name) => readBuilt(folder, name))) {
    const isIndex = file.name === "index.html";
    app.get(isIndex ? "/" : `/${file.name}`, { schema: { hide: true }, config: { rate: RATE } }, (request, reply) => {
      const path = request.url.split("?", 1)[0] ?? "/";
      // The page names its files relative to itself.
      if (isIndex && !path.endsWith("/")) return reply.redirect(`${path}/`, 308);
      return send(request, reply, file, isIndex ? "no-cache" : "public, max-age=31536000, immutable");
    });
  }
  return true;
}

function readBuilt(folder: string, name: string): File {
  const plain = readFileSync(join(folder, name));
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  const type = TYPES[extname(name)] ?? "application/octet-stream";
  return { name, type, plain, zipped: gzipSync(plain, { level: 9 }), etag };
}

function send(request: FastifyRequest, reply: FastifyReply, file: File, caching: string): FastifyReply {
  const { plain, zipped, etag, type } = file;
  reply.headers({ "content-security-policy": POLICY, "cache-control": caching, etag, vary: "accept-encoding" });
  if (request.headers["if-none-match"] === etag) return reply.status(304).send();
  const isZipped = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  if (isZipped) reply.header("content-encoding", "gzip");
  return reply.type(type).send(isZipped ? zipped : plain);
}
