import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Lets a service close as soon as its last answer is sent. By itself a closing server ends only the connections that
 * are idle between two requests. It waits for those without any request yet, which browsers and fetch open in advance,
 * for those that were being answered, until their clients close them, and for requests that never arrive whole.
 */
export function endConnectionsAtClose(app: Pick<FastifyInstance, "server" | "addHook">): void {
  /** The open connections, each with its last request until that is answered. */
  const open = new Map<Socket, IncomingMessage | null>();
  let isClosing = false;
  const endUnused = () => {
    for (const [socket, request] of open) if (request?.complete !== true) socket.destroy();
  };
  app.server.on("connection", (socket: Socket) => {
    open.set(socket, null);
    socket.once("close", () => open.delete(socket));
  });
  app.server.on("request", (request, response) => {
    const { socket } = request;
    if (open.has(socket)) open.set(socket, request);
    response.once("close", () => {
      if (open.get(socket) === request) open.set(socket, null);
    });
  });
  app.addHook("preClose", async () => {
    isClosing = true;
    endUnused();
  });
  app.addHook("onResponse", (_request, _reply, done) => {
    // The request counts as answered just after this hook.
    if (isClosing) setImmediate(endUnused);
    done();
  });
}
