import { once } from "node:events";
import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { EXCHANGE_ORIGINS } from "@dataset-oracle/devnet/exchange-origins";
import { type Authority, type Certificate, createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { portOf } from "../http.js";

const EXCHANGE_OF = new Map(Object.entries(EXCHANGE_ORIGINS).map(([name, origin]) => [new URL(origin).host, name]));

export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Starts what the providers take for the internet: the exchanges, which the devnet's market plays, and the attacker's
 * hosts, all over TLS. A trap counts the connections to any other address.
 */
export async function startSimulatedInternet(folder: string, marketUrl: string) {
  const authority = createCertificateAuthority(folder);
  const certificate = authority.issue(["*.attack.example", ...EXCHANGE_OF.keys()]);
  /** By host. */
  const handlers = new Map<string, Handler>();
  const contexts = new Map<string, SecureContext>();
  const SNICallback = (name: string, done: (error: null, context?: SecureContext) => void) =>
    done(null, contexts.get(name));
  const server = createHttpsServer({ ...certificate, SNICallback, keepAliveTimeout: 60_000 }, (request, response) => {
    const { host = "" } = request.headers;
    const exchange = EXCHANGE_OF.get(host);
    if (exchange !== undefined) return passOn(`${marketUrl}/${exchange}${request.url}`, request, response);
    const handler = handlers.get(host);
    if (handler === undefined) return void response.writeHead(404).end("{}");
    response.setHeader("content-type", "application/json");
    return handler(request, response);
  });
  server.on("clientError", (_, socket) => socket.destroy());
  let trapped = 0;
  const trap = createServer((socket) => {
    trapped += 1;
    socket.on("error", () => {});
    socket.destroy();
  });
  for (const one of [server, trap]) await once(one.listen(0, "127.0.0.1"), "listening");
  return {
    /** The environment variables of a process that uses this internet. */
    env: {
      NODE_EXTRA_CA_CERTS: authority.file,
      ATTACK_INTERNET_PORT: String(portOf(server)),
      ATTACK_TRAP_PORT: String(portOf(trap)),
    },
    trapUrl: `http://127.0.0.1:${portOf(trap)}`,
    /** The number of connections to addresses outside of this internet. */
    trapped: () => trapped,
    /** Answers requests to a host below `attack.example`. */
    serve: (host: string, handler: Handler) => handlers.set(host, handler),
    /** Makes a host present another certificate. */
    showCertificate: (host: string, makeCertificate: (authority: Authority) => Certificate) =>
      contexts.set(host, createSecureContext(makeCertificate(authority))),
    close: async () => {
      server.closeAllConnections();
      for (const one of [server, trap]) one.close();
    },
  };
}

function passOn(url: string, request: IncomingMessage, response: ServerResponse) {
  const options = { method: request.method, headers: { accept: "application/json" } };
  const passed = requestHttp(url, options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, { "content-type": "application/json" });
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  request.pipe(passed);
}

export type SimulatedInternet = Awaited<ReturnType<typeof startSimulatedInternet>>;
