import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { gzipSync } from "node:zlib";
import type { buildConnector } from "undici";

const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20), { level: 1 });

/**
 * A server on loopback that answers as a hostile one may: `/json`, `/redirect?to=`, `/bomb`, `/failing` (HTTP 500 with
 * the bomb), `/endless`, `/extensions` (of chunks, without an end), `/crumbs` (50,000 chunks of a byte),
 * `/silent`, and `/echo`, which repeats what it was sent.
 */
export async function startHostileServer() {
  const requests: Pick<IncomingMessage, "headers" | "url">[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://web");
    requests.push({ headers: request.headers, url: request.url });
    const [, first = ""] = url.pathname.split("/");
    response.setHeader("content-type", "application/json");
    if (first === "redirect") {
      return response.writeHead(302, { location: url.searchParams.get("to") ?? "/" }).end();
    }
    if (first === "bomb") return response.writeHead(200, { "content-encoding": "gzip" }).end(BOMB);
    if (first === "failing") return response.writeHead(500, { "content-encoding": "gzip" }).end(BOMB);
    if (first === "endless" || first === "extensions") {
      response.flushHeaders();
      const extended = `1;${"x".repeat(16 * 1024)}\r\n1\r\n`;
      const write = () =>
        first === "endless" ? response.write(" ".repeat(64 * 1024)) : response.socket?.write(extended);
      const timer = setInterval(write, 1);
      response.once("close", () => clearInterval(timer));
      return response;
    }
    if (first === "crumbs") for (let i = 0; i < 50_000; i++) response.write("1");
    if (first === "crumbs") return response.end();
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
  /** Connects to this server, whatever the address and the name. */
  const dial: buildConnector.connector = (_, callback) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => callback(null, socket)).once("error", (error) => callback(error, null));
  };
  return { port, requests, dial, close };
}
