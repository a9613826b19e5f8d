import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.js";
import { call, openConnection } from "../http.js";
import { countOpenFiles, memoryOf } from "../process-usage.js";

const CALLERS = 12;
const CONNECTIONS = 6;
/** Each caller asks for as many files as its limit allows. */
const REQUESTS = 50;
const MOST_BYTES = 256 * 1024 * 1024;

export const unreadAnswers: Attack = {
  name: "unread-answers",
  breach: `unread answers cost an operator more than ${MOST_BYTES / 2 ** 20} MiB or leave a file open, or an honest caller gets no answer`,
  isFast: false,
  async run(network, tally) {
    const { operator } = network;
    const path = await findLargestAsset(operator.url, network.caller());
    const before = memoryOf(operator.pid);
    const sockets: Socket[] = [];
    for (const from of network.callers(CALLERS)) {
      for (let i = 0; i < CONNECTIONS; i++) {
        const socket = await openConnection(operator.url, from);
        if (socket === null) continue;
        socket.pause();
        socket.write(`GET ${path} HTTP/1.1\r\nhost: operator\r\naccept-encoding: identity\r\n\r\n`.repeat(REQUESTS));
        tally.attempt(REQUESTS);
        sockets.push(socket);
      }
    }
    await sleep(1_000);
    const grown = memoryOf(operator.pid) - before;
    if (grown > MOST_BYTES) tally.breach(`the operator grew by ${Math.round(grown / 2 ** 20)} MiB`);
    for (let i = 0; i < 10; i++) {
      const { status, text } = await network.update(operator, {});
      if (status !== 200) tally.breach(`an honest request is answered ${status}: ${text}`);
    }
    for (const socket of sockets) socket.destroy();
    await sleep(1_000);
    const open = countOpenFiles(operator.pid, network.build);
    if (open > 0) tally.breach(`${open} files are still open`, open);
  },
};

async function findLargestAsset(url: string, from: string) {
  const { text } = await call(`${url}/guide/`, { from });
  const paths = [...text.matchAll(/(?:src|href)="([^"]*assets\/[^"]+)"/g)].map(
    ([, path = ""]) => new URL(path, `${url}/guide/`).pathname,
  );
  const sizes = await Promise.all(
    [...new Set(paths)].map(async (path) => ({ path, size: (await call(`${url}${path}`, { from })).text.length })),
  );
  return sizes.toSorted((a, b) => b.size - a.size)[0]?.path ?? "/guide/";
}
