import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import type { buildConnector } from "undici";

/** A server on loopback that answers as a hostile one may. */
export interface HostileServer {
  readonly port: number;
  readonly requests: Pick<IncomingMessage, "headers" | "url">[];
  /** Connects to this server, whatever the address and the name. */
  readonly dial: buildConnector.connector;
  close(): Promise<void>;
}

const BOMB_BYTES = 64 * 1024 * 1024;
/** With the least effort, which is enough for what repeats one byte. */
const COMPRESS = {
  gzip: (bomb: Buffer) => gzipSync(bomb, { level: 1 }),
  deflate: (bomb: Buffer) => deflateSync(bomb, { level: 1 }),
  br: (bomb: Buffer) => brotliCompressSync(bomb, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
} as const;

/** `/json`, `/redirect?to=`, `/bomb/<coding>`, `/endless`, `/silent`, and `/echo`, which repeats what it was sent. */
export async function startHostileServer(): Promise<HostileServer> {
  const requests: HostileServer["requests"] = [];
  const bombs = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://web");
    requests.push({ headers: request.headers, url: request.url });
    const [, first = "", second = ""] = url.pathname.split("/");
    response.setHeader("content-type", "application/json");
    if (first === "redirect") {
      return response.writeHead(302, { location: url.searchParams.get("to") ?? "/" }).end();
    }
    if (first === "bomb") {
      const coding = second as keyof typeof COMPRESS;
      const bomb = bombs.get(coding) ?? COMPRESS[coding](Buffer.alloc(BOMB_BYTES, 0x20));
      bombs.set(coding, bomb);
      return response.writeHead(200, { "content-encoding": coding }).end(bomb);
    }
    if (first === "endless") {
      const timer = setInterval(() => response.write(" ".repeat(64 * 1024)), 1);
      response.once("close", () => clearInterval(timer));
      return response;
    }
    if (first === "silent") return response;
    if (first === "echo") return response.end(JSON.stringify({ url: request.url, headers: request.headers }));
    return response.end("{}");
  });
  // As an attacker's hosts may do, it asks its clients to keep their connections open.
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  const { port } = server.address() as AddressInfo;
  const dial: HostileServer["dial"] = (_, callback) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => callback(null, socket)).once("error", (error) => callback(error, null));
  };
  return { port, requests, dial, close };
}
