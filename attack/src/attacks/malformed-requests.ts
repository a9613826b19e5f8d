import { setTimeout as sleep } from "node:timers/promises";
import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import { type Address, stringToHex } from "viem";
import type { Attack } from "../attack.js";
import { sendRaw } from "../http.js";
import { priceKey } from "../network/network.js";

const MUTATIONS = 150;

/** A valid body. */
interface Valid {
  readonly network_id: number;
  readonly dataset: Address;
  readonly key: string;
  readonly broadcast?: boolean;
  readonly timestamp?: number;
}

/** Returns bodies that must be refused, although some parsers accept them as requests. */
function bodies(valid: Valid) {
  const text = JSON.stringify(valid);
  const inside = text.slice(1, -1);
  const last = Object.keys(valid).at(-1) ?? "";
  return [
    // Other JSON, and what is almost JSON
    "",
    " ",
    "null",
    "[]",
    "{}",
    "0",
    '"x"',
    "true",
    text.slice(0, -1),
    `${text}}`,
    `${text},`,
    `[${text}]`,
    `\u00a0${text}`,
    `${text}//`,
    `/**/${text}`,
    `{${inside},}`,
    text.replaceAll('"', "'"),
    text.replaceAll('"', ""),
    text.replace(valid.key.slice(0, 6), "\\ud800"),
    // Properties that appear twice, or that no request has
    `{${inside},"network_id":43}`,
    `{${inside},"${last}":true}`,
    `{${inside},"__proto__":{"${last}":true}}`,
    `{${inside},"constructor":{"prototype":{}}}`,
    `{${inside},"extra":1}`,
    `{${inside},"key\\u0000":1}`,
    // Values
    ...[
      "NaN",
      "Infinity",
      "-1",
      "1e400",
      "4.2e1",
      "42.5",
      "0x2a",
      '"42"',
      "null",
      "[42]",
      "042",
      "9007199254740993",
    ].map((number) => text.replace(":42", `:${number}`)),
    ...[0, 1, "true", null, [], {}].map((value) => JSON.stringify({ ...valid, [last]: value })),
    ...[
      "",
      "SPOTPX/",
      "SPOTPX/ETH-USD ",
      " SPOTPX/ETH-USD",
      "spotpx/eth-usd",
      "SPOTPX/ETH-USD\u0000",
      "0x",
      "0xZZ",
      "x".repeat(5_000),
    ].map((key) => JSON.stringify({ ...valid, key })),
    ...["", "0x", "0x0", `0x${"0".repeat(40)}`, valid.dataset.toUpperCase(), `${valid.dataset}00`, "../", 5, null].map(
      (dataset) => JSON.stringify({ ...valid, dataset }),
    ),
    // Sizes
    "[".repeat(8_000),
    `${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`,
    JSON.stringify({ ...valid, padding: "x".repeat(200_000) }),
  ];
}

const post = (path: string, body: string, headers = "content-type: application/json") =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${headers}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Requests that are wrong as HTTP, around a body that is right. */
function requests(path: string, text: string) {
  const length = Buffer.byteLength(text);
  const start = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
  return [
    // Headers
    ...["text/plain", "application/xml", "application/x-www-form-urlencoded", "application/jsonx", "", "*/*"].map(
      (type) => post(path, text, `content-type: ${type}`),
    ),
    `${start}content-length: ${length}\r\ntransfer-encoding: chunked\r\n\r\n${text}`,
    `${start}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n`,
    `${start}transfer-encoding: xchunked\r\n\r\n${text}`,
    `${start}transfer-encoding: chunked\r\n\r\nZZ\r\n${text}\r\n0\r\n\r\n`,
    `${start}content-length: ${length}\r\ncontent-length: ${length + 1}\r\n\r\n${text}`,
    `${start}content-length: -1\r\n\r\n${text}`,
    `${start}content-length: +${length}\r\n\r\n${text}`,
    `${start}content-length: 1e3\r\n\r\n${text}`,
    `${start}content-length : ${length}\r\n\r\n${text}`,
    `${start}\u0000: x\r\n\r\n`,
    `${start}x: ${"y".repeat(20_000)}\r\n\r\n`,
    `${start}${"x: y\r\n".repeat(5_000)}\r\n`,
    // Methods, versions and paths
    ...["GET /live HTTP/9.9", "G\u0000T /live HTTP/1.1", "PRI * HTTP/2.0", "\u0016\u0003\u0001"].map(
      (line) => `${line}\r\nhost: a\r\n\r\n`,
    ),
    "GET /datasets HTTP/1.1\r\n\r\n",
    `GET /${"x".repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
    ...["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW"].map(
      (method) => `${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    ),
    ...[
      "?network_id=0x2a",
      "?network_id=42&network_id=43",
      "?network_id[]=42",
      "?__proto__=1",
      "?%00",
      "?limit=-1",
      "?limit=1e9",
    ].map((query) => `GET /history${query} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`),
  ];
}

/** Returns an answer's status, or 0 when there is no answer. */
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);

export const malformedRequests: Attack = {
  name: "malformed-requests",
  breach: "a malformed request is answered with success, or any request makes a service fail with 500 or exit",
  isFast: true,
  async run(network, tally, random) {
    const { operator, providers } = network;
    const point = { network_id: 42, dataset: network.prices };
    const update = (): Valid => ({ ...point, key: priceKey(1), broadcast: false });
    const report = (): Valid => ({
      ...point,
      key: stringToHex(priceKey(1)),
      timestamp: Math.floor(Date.now() / 1_000) - 1,
    });
    for (const [service, path, validNow] of [
      [operator, "/data/request", update],
      [providers[0], "/report", report],
    ] as const) {
      const ask = () =>
        sendRaw(service.url, post(path, JSON.stringify(validNow())), { from: network.caller(), timeoutMs: 10_000 });
      let answer = await ask();
      // What the operator was asked just now can have used up for a moment what the provider's sources allow.
      for (; answer.includes('"code":"source_busy"'); answer = await ask()) await sleep(1_000);
      if (statusOf(answer) !== 200) throw new Error(`${service.name} refuses a valid request: ${answer}`);

      const valid = validNow();
      const text = JSON.stringify(valid);
      const wrong = [...bodies(valid).map((body) => post(path, body)), ...requests(path, text)];
      const mutated = Array.from({ length: MUTATIONS }, () => {
        const bytes = Buffer.from(text);
        const count = 1 + random.below(3);
        for (let i = 0; i < count; i++) bytes[random.below(bytes.length)] = 32 + random.below(95);
        return post(path, bytes.toString("latin1"));
      });
      const all = [
        ...wrong.map((request) => ({ request, isWrong: true })),
        ...mutated.map((request) => ({ request, isWrong: false })),
      ];
      const callers = network.callers(Math.ceil(all.length / 40));
      await forEachConcurrently(all, 16, async ({ request, isWrong }, index) => {
        tally.attempt();
        const status = statusOf(
          await sendRaw(service.url, request, { from: callers[Math.floor(index / 40)] as string }),
        );
        // A mutation may be a valid request, for example for a key that no provider serves: only 500 counts against it.
        if (status === 500 || (isWrong && status < 400 && status !== 0)) {
          tally.breach(`${service.name} answers ${status} to ${JSON.stringify(request.slice(0, 300))}`);
        }
      });
      const { status } = await network.live(service);
      if (status !== 200) tally.breach(`${service.name} is no longer alive`);
    }
  },
};
