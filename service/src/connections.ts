import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Lets a service close at once although somebody has opened a connection and never asked anything, as browsers and
 * fetch do in advance: a closing server ends connections between two requests, but waits for these.
 */
export function endSilentConnections(app: Pick<FastifyInstance, "server" | "addHook">): void {
  const silent = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  app.server.on("request", ({ socket }) => silent.delete(socket));
  app.addHook("preClose", async () => {
    for (const socket of silent) socket.destroy();
  });
}
