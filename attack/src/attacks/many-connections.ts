import type { Socket } from "node:net";
import type { Attack } from "../attack.js";
import { openConnection } from "../http.js";

const CONNECTIONS = 1_100;
const HONEST_REQUESTS = 20;

export const manyConnections: Attack = {
  name: "many-connections",
  breach: "one address keeps so many connections open that others are turned away",
  isFast: true,
  async run(network, tally) {
    for (const service of [network.operator, network.providers[0]]) {
      const from = network.caller();
      const sockets: Socket[] = [];
      for (let i = 0; i < CONNECTIONS; i++) {
        const socket = await openConnection(service.url, from);
        tally.attempt();
        if (socket === null) continue;
        socket.resume();
        // One request on each: after its answer, the server keeps the connection open for longer.
        socket.write("GET /live HTTP/1.1\r\nhost: service\r\n\r\n");
        sockets.push(socket);
      }
      for (let i = 0; i < HONEST_REQUESTS; i++) {
        const { status, text } = await network.live(service);
        if (status !== 200) tally.breach(`${service.name} answers an honest caller ${status}: ${text}`);
      }
      for (const socket of sockets) socket.destroy();
    }
  },
};
