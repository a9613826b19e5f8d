import type { Attack } from "../attack.js";
import { openConnection } from "../http.js";

const CONNECTIONS = 10;
const REQUESTS = 20_000;
const BATCH = 500;
const HONEST_REQUESTS = 20;
/** Four times what a health check may make in a minute, which is the larger limit, and as much for a minute that begins. */
const MAX_ANSWERS = 2 * 1_200;

export const pipelinedRequests: Attack = {
  name: "pipelined-requests",
  breach: `more than ${MAX_ANSWERS} requests of one address are answered that does not wait for answers`,
  isFast: true,
  async run(network, tally) {
    for (const service of [network.operator, network.providers[0]]) {
      const from = network.caller();
      const batch = "GET /live HTTP/1.1\r\nhost: service\r\n\r\n".repeat(BATCH);
      let answers = 0;
      const flood = async () => {
        for (let sent = 0; sent < REQUESTS / CONNECTIONS; sent += BATCH) {
          const socket = await openConnection(service.url, from);
          tally.attempt(BATCH);
          if (socket === null) continue;
          socket.on("data", (data) => {
            answers += String(data).split("HTTP/1.1 ").length - 1;
          });
          await new Promise<void>((done) => {
            socket.once("close", () => done()).setTimeout(2_000, () => socket.destroy());
            socket.write(batch);
          });
        }
      };
      const floods = Promise.all(Array.from({ length: CONNECTIONS }, flood));
      const waits: number[] = [];
      for (let i = 0; i < HONEST_REQUESTS; i++) {
        const begun = performance.now();
        const { status, text } = await network.live(service);
        waits.push(performance.now() - begun);
        if (status !== 200) tally.breach(`${service.name} answers an honest caller ${status}: ${text}`);
      }
      await floods;
      tally.note(`${service.name} answered ${answers}; others waited ${Math.ceil(Math.max(...waits))} ms at most`);
      if (answers > MAX_ANSWERS) tally.breach(`${service.name} answered ${answers} requests`, answers);
    }
  },
};
