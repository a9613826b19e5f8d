import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Lets a service close as soon as its last answer is sent. By itself a closing server ends only the connections that
 * are idle between two requests. It waits for those without any request yet, which browsers and fetch open in advance,
 * and for those that were being answered, until their clients close them.
 */
export function endConnectionsAtClose(app: Pick<FastifyInstance, "server" | "addHook">): void {
  const silent = new Set<Socket>();
  let isClosing = false;
  app.server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  app.server.on("request", ({ socket }) => silent.delete(socket));
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const socket of silent) socket.destroy();
  });
  app.addHook("onResponse", (_request, _reply, done) => {
    // The connection becomes idle just after this hook.
    if (isClosing) setImmediate(() => app.server.closeIdleConnections());
    done();
  });
}
