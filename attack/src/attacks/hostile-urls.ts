import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Hex } from "viem";
import type { Attack } from "../attack.js";
import { buildSpec } from "../network/build-spec.js";
import type { RunningProvider } from "../network/network.js";
import type { Handler } from "../network/simulated-internet.js";

const PUBLIC = "93-184-215-14";
/** Addresses that no published spec may reach, as they are written in a name: redirect-connections.cts resolves it. */
const PRIVATE_V4 = [
  "127-0-0-1",
  "10-0-0-1",
  "192-168-1-1",
  "172-16-0-1",
  "169-254-169-254",
  "100-64-0-1",
  "0-0-0-0",
  "224-0-0-1",
  "255-255-255-255",
  "198-18-0-1",
];
const PRIVATE_V6 = [
  "0-0-0-0-0-0-0-1",
  "fd00-0-0-0-0-0-0-1",
  "fe80-0-0-0-0-0-0-1",
  "0-0-0-0-0-ffff-7f00-1",
  "64-ff9b-0-0-0-0-a00-1",
  "2002-a00-1-0-0-0-0-0",
];

const NAMES = [
  ...PRIVATE_V4.flatMap((address) => [`v4-${address}`, `v4-${PUBLIC}--${address}`, `rebind-v4-${address}`]),
  ...PRIVATE_V6.flatMap((address) => [`v6-${address}`, `rebind-v6-${address}`]),
].map((name) => `https://${name}.attack.example/`);

const LITERALS = [
  // This machine
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[fe80::1%25lo]",
  "0",
  "localhost",
  "LOCALHOST.",
  "127.0.0.1.",
  "localhost.localdomain",
  // Names of local networks, and names that are not valid
  "metadata.google.internal",
  "printer.local",
  "host.internal",
  "intranet",
  "\u2488\u2488",
  "1\u30022.3.4",
  "a_b.example",
  "xn--zzz.example",
].map((host) => `https://${host}/`);

const SHAPES = [
  // Other schemes
  "http://api.attack.example/",
  "ftp://api.attack.example/",
  "file:///etc/passwd",
  "gopher://api.attack.example/",
  "data:application/json,{}",
  "//api.attack.example/",
  // Credentials, ports and fragments
  "https://user:secret@api.attack.example/",
  "https://api.attack.example:8443/",
  "https://api.attack.example:22/",
  "https://api.attack.example/#fragment",
  // What parsers read differently
  "https://api.attack.example\\@127.0.0.1/",
  "https://127.0.0.1#@api.attack.example/",
  "https://api.attack.example/\r\nx: y",
  "https:///etc",
  "https://",
  " https://127.0.0.1/",
];

/** Everything but redirects, which need a server of their own. */
export const HOSTILE_URLS = [...NAMES, ...LITERALS, ...SHAPES];

export const hostileUrls: Attack = {
  name: "hostile-urls",
  breach: "a published spec makes a provider connect to an address that is not public, or a refused URL gives a value",
  isFast: true,
  async run(network, tally) {
    const { internet, providers } = network;
    const value: Handler = (_, response) => response.end('{"value":1}');
    const redirects = [301, 302, 303, 307, 308].flatMap((status) =>
      [internet.trapUrl, "https://169.254.169.254/", "http://localhost/", "file:///etc/passwd"].map((location, i) => {
        const host = `to-${status}-${i}.attack.example`;
        internet.serve(host, (_, response) => response.writeHead(status, { location }).end('{"value":1}'));
        return `https://${host}/`;
      }),
    );
    for (const url of NAMES) internet.serve(new URL(url).host, value);
    const urls = [...HOSTILE_URLS, ...redirects];
    const hashes = await network.publish(...urls.map((url, i) => buildSpec(`hostile ${i}`, { url })));
    const before = internet.trapped();
    await forEachConcurrently(urls, 8, async (url, i) => {
      // A name that changes its address is read twice, because its first lookup gives a public address.
      const times = url.includes("rebind-") ? 2 : 1;
      for (let time = 1; time <= times; time++) {
        tally.attempt();
        const request = {
          dataset: network.numbers,
          key: network.key(hashes[i] as Hex),
          round: Math.floor(Date.now() / 1_000) - time,
        };
        const { json, text } = await network.reportOfSpec(providers[i % providers.length] as RunningProvider, request);
        if (json === undefined) throw new Error(`${url} was not judged: ${text}`);
        if (json.outcome === "OK" && !url.includes("rebind-")) tally.breach(`${url} gave a value`);
        if (json.code === "internal_error") tally.breach(`${url}: ${text}`);
      }
    });
    const trapped = internet.trapped() - before;
    if (trapped > 0) tally.breach(`there were ${trapped} connections to other addresses`, trapped);
  },
};
