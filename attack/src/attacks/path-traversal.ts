import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Attack } from "../attack.js";
import { sendRaw } from "../http.js";

const UPS = [
  "../",
  "..%2f",
  "%2e%2e/",
  "%2e%2e%2f",
  "..%5c",
  "..\\",
  "....//",
  "..;/",
  "%252e%252e%252f",
  "..%c0%af",
  ".%00./",
];
const STARTS = ["/", "/guide/", "/guide/assets/", "/assets/", "//", "/guide//"];
const FILES = ["etc/passwd", "package.json", "operator.json", "operator/src/main.ts"];

export const pathTraversal: Attack = {
  name: "path-traversal",
  breach: "a path that leads out of the served folders, or to a file that is not served, is answered with 200 or 5xx",
  isFast: true,
  async run(network, tally) {
    const paths = STARTS.flatMap((start) =>
      UPS.flatMap((up) => FILES.map((file, index) => start + up.repeat(index === 0 ? 8 : 2) + file)),
    );
    paths.push(
      "/guide/%00",
      "/guide/index.html%00.js",
      "/guide/.git/config",
      "/.git/HEAD",
      "/.env",
      "/guide/..",
      "/proc/self/environ",
      "http://127.0.0.1/etc/passwd",
      "file:///etc/passwd",
      "/guide/assets",
      "/guide/index.html.gz",
      "/__proto__",
      "/guide/__proto__",
    );
    // Each caller stays below its limit, so that every answer is about the path.
    const callers = network.callers(Math.ceil(paths.length / 40));
    await forEachConcurrently(paths, 16, async (path, index) => {
      tally.attempt();
      const request = `GET ${path} HTTP/1.1\r\nhost: operator\r\nconnection: close\r\n\r\n`;
      const answer = await sendRaw(network.operator.url, request, { from: callers[Math.floor(index / 40)] as string });
      if (/^HTTP\/1\.1 (?:200|5)/.test(answer)) tally.breach(`${path}: ${answer.slice(0, 200)}`);
      if (!/^HTTP\/1\.1 (?!429)/.test(answer))
        throw new Error(`${path} was rate limited or not answered over HTTP/1.1: ${answer.slice(0, 80)}`);
    });
  },
};
