import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.js";
import { openConnection } from "../http.js";
import { buildSpec } from "../network/build-spec.js";
import { countOpenFiles } from "../process-usage.js";

const CALLERS = 14;
/** With the slow answer, as many requests as one connection may have unanswered: it is not closed for them. */
const PAGES = 15;
const GET = "GET /guide/ HTTP/1.1\r\nhost: operator\r\n\r\n";

export const leakedFileDescriptors: Attack = {
  name: "leaked-file-descriptors",
  breach: "a file is still open after its connection was closed, or an honest caller is turned away",
  isFast: true,
  /** Queues pages behind a slow answer, and closes the connection before they are sent. */
  async run(network, tally) {
    const { operator, internet } = network;
    internet.serve("slow.attack.example", () => {});
    const hash = await network.publishOne(buildSpec("slow", { url: "https://slow.attack.example/" }));
    const request = { network_id: 42, dataset: network.numbers, key: network.key(hash), broadcast: false };
    const body = JSON.stringify(request);
    const slow = `POST /data/request HTTP/1.1\r\nhost: operator\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    await Promise.all(
      network.callers(CALLERS).map(async (from) => {
        const socket = await openConnection(operator.url, from);
        if (socket === null) return;
        socket.write(slow + GET.repeat(PAGES));
        tally.attempt(PAGES);
        await sleep(700);
        if (socket.closed) return;
        const closed = once(socket, "close");
        socket.destroy();
        await closed;
      }),
    );
    await sleep(2_000);
    const open = countOpenFiles(operator.pid, network.build);
    if (open > 0) tally.breach(`${open} files are still open`, open);
    for (let i = 0; i < 10; i++) {
      const { status, text } = await network.update(operator, {});
      if (status !== 200) tally.breach(`an honest request is answered ${status}: ${text}`);
    }
  },
};
