import { once } from "node:events";
import { request as requestHttp } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer } from "node:net";
import { createSecureContext } from "node:tls";
import { EXCHANGE_ORIGINS, EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";

const EXCHANGE_OF = new Map(EXCHANGES.map((name) => [new URL(EXCHANGE_ORIGINS[name]).host, name]));

/**
 * Starts what the providers take for the internet: the exchanges, which the devnet's market plays, and the attacker's
 * hosts, all over TLS. A trap counts the connections to any other address.
 */
export async function startSimulatedInternet(folder, marketUrl) {
  const authority = createCertificateAuthority(folder);
  const certificate = authority.issue(["*.attack.example", ...EXCHANGE_OF.keys()]);
  /** By host. */
  const handlers = new Map();
  const contexts = new Map();
  const SNICallback = (name, done) => done(null, contexts.get(name));
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
      ATTACK_INTERNET_PORT: String(server.address().port),
      ATTACK_TRAP_PORT: String(trap.address().port),
    },
    trapUrl: `http://127.0.0.1:${trap.address().port}`,
    /** The number of connections to addresses outside of this internet. */
    trapped: () => trapped,
    /** Answers requests to a host below `attack.example`. */
    serve: (host, handler) => handlers.set(host, handler),
    /** Makes a host present another certificate. */
    showCertificate: (host, makeCertificate) => contexts.set(host, createSecureContext(makeCertificate(authority))),
    close: async () => {
      server.closeAllConnections();
      for (const one of [server, trap]) one.close();
    },
  };
}

function passOn(url, request, response) {
  const options = { method: request.method, headers: { accept: "application/json" } };
  const passed = requestHttp(url, options, (answer) => {
    response.writeHead(answer.statusCode, { "content-type": "application/json" });
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  request.pipe(passed);
}
