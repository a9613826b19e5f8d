// Measures what strangers can cost both services: the CPU time of the main thread and the bytes of the log of the dearest
// requests of each route, accepted and refused, and what four addresses can cause within the default limits.

import { readFileSync, statSync } from "node:fs";
import { Agent, request as send } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "@dataset-oracle/devnet/service-process";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { type LimitedServices, Processes } from "./processes.js";
import { newWebOracleKey } from "./web-oracle.js";

const ADDRESSES = 4;
/** Above the default limit of 600 requests a minute. */
const PER_SECOND = 12;
/** For four addresses: the share of a core, and megabytes of log an hour. */
const MAX_CORE = 0.1;
const MAX_LOG = 10;

const USAGE = `Usage: npm run bench:limits [-- --requests N --seconds N --only NAME]

Prints what a request of a stranger costs a provider and an operator: the CPU time of the main thread and the bytes of
the log, for the dearest requests that are accepted and refused. Then ${ADDRESSES} addresses repeat each for a while, above the
default limit on requests. It exits with 1 if that takes more than ${MAX_CORE} of a core, or ${MAX_LOG} MB of log an hour.
It takes about 25 minutes, and needs Linux.

  --requests N   how often each request is made, each by another address (default: 50)
  --seconds N    how long the addresses repeat each request (default: 60)
  --only NAME    the requests whose name contains this text
  --help         show this text

Examples
  npm run bench:limits
  npm run bench:limits -- --only batch --seconds 300`;

interface Kind {
  readonly name: string;
  readonly service: ServiceProcess;
  readonly path: string;
  /** Makes the body of a POST. Without it, the request is a GET. */
  readonly body?: () => string;
}

const { values } = readArguments(USAGE, {
  requests: { type: "string", default: "50", range: [1, 1_000] },
  seconds: { type: "string", default: "60", range: [5, 3_600] },
  only: { type: "string", default: "" },
});
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** Sends one request for a caller, and returns the answer's status. */
function ask({ service, path, body }: Kind, caller: string): Promise<number> {
  const text = body?.();
  const headers = { "x-forwarded-for": caller, ...(text !== undefined && { "content-type": "application/json" }) };
  return new Promise((done, failed) => {
    const sent = send(service.url + path, { agent, method: text === undefined ? "GET" : "POST", headers }, (answer) => {
      answer.resume().once("end", () => done(answer.statusCode ?? 0));
    });
    sent.once("error", failed).end(text);
  });
}

/** The time of a tick of the kernel's clock, in milliseconds. */
const TICK_MS = 10;

/** Reads the CPU time of a process's main thread in milliseconds, and the size of its log in bytes. */
function usageOf({ pid, logFile }: ServiceProcess) {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, log: statSync(logFile).size };
}

async function measure(service: ServiceProcess, work: () => Promise<void>) {
  const before = usageOf(service);
  const start = performance.now();
  await work();
  // The log is written after 100 ms.
  await sleep(500);
  const after = usageOf(service);
  const seconds = (performance.now() - start) / 1_000;
  return { cpuMs: after.cpuMs - before.cpuMs, log: after.log - before.log, seconds };
}

const now = () => Math.floor(Date.now() / 1_000);
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

function kindsOf({ provider, operator, dataset, webDataset, keys }: LimitedServices): Kind[] {
  let last = 0;
  const spot = () => spotPriceKey((keys[last++ % keys.length] ?? "").slice("SPOTPX/".length));
  const about = (address: string) => ({ network_id: 42, dataset: address, timestamp: now() });
  const hex = (bytes: number) => `0x${"ab".repeat(bytes)}`;
  const row = (more: object) => () => JSON.stringify({ ...about(dataset), ...more });
  const web = (more: () => object) => () => JSON.stringify({ ...about(webDataset), ...more() });
  const long = times(255, (i) => hex(254) + i.toString(16).padStart(4, "0"));
  // Written in another way than JSON.stringify does, which takes the slow parser.
  const unusual = (body: string) => () => body.replace("{", '{ "timestamp": 1.50, ');
  const members = (count: number) => `{${times(count, (i) => `"k${i}":1`).join(",")}}`;
  const at = (service: ServiceProcess, path: string, what: string, body?: () => string): Kind => ({
    name: `${service.name.replace(/-.*/, "")} ${body === undefined ? "GET" : "POST"} ${path.replace(/\?.*/, "")} ${what}`,
    service,
    path,
    ...(body !== undefined && { body }),
  });
  const key = `network_id=42&dataset=${dataset}&key=${encodeURIComponent(keys[0] ?? "")}`;
  const both = (service: ServiceProcess) => [
    ...["/live", "/ready", "/openapi.json"].map((path) => at(service, path, "")),
    { ...at(service, "/nowhere", "refused: a long path"), path: `/nowhere/${"x".repeat(7_000)}` },
  ];
  return [
    at(provider, "/report", "accepted: a price", () => JSON.stringify({ ...about(dataset), key: spot() })),
    at(
      provider,
      "/report",
      "accepted: a key of the Web Oracle",
      web(() => ({ key: newWebOracleKey() })),
    ),
    at(provider, "/report", "refused: 1,500 unknown members", () => members(1_500)),
    at(provider, "/report", "refused: an unusual body of 16 KB", unusual(members(1_400))),
    at(provider, "/report/batch", "accepted: 256 prices", () => row({ keys: times(256, spot) })()),
    at(
      provider,
      "/report/batch",
      "accepted: 256 keys of the Web Oracle",
      web(() => ({ keys: times(256, newWebOracleKey) })),
    ),
    at(provider, "/report/batch", "refused: a long key twice", row({ keys: [...long, long[0]] })),
    at(provider, "/report/batch", "refused: 256 long keys of no form", row({ keys: long })),
    at(provider, "/report/batch", "refused: an unusual body of 137 KB", unusual(row({ keys: long })())),
    at(
      provider,
      "/report/batch",
      "refused: 60,000 brackets",
      () => `{"keys":[${"[".repeat(60_000)}${"]".repeat(60_000)}]}`,
    ),
    ...both(provider),
    at(operator, "/data/request", "accepted", () =>
      JSON.stringify({ network_id: 42, dataset, key: keys[last++ % keys.length], broadcast: false }),
    ),
    at(operator, "/data/request", "refused: an unusual body of 16 KB", unusual(members(1_400))),
    at(operator, "/data/request", "refused: an unknown key", () =>
      JSON.stringify({ network_id: 42, dataset, key: "SPOTPX/NO-SUCH", broadcast: false }),
    ),
    at(operator, "/data/gateway/42", "refused: no lookup", () => JSON.stringify({ sender: dataset, data: hex(7_000) })),
    { ...at(operator, "/data/gateway/42/…", "refused: no lookup"), path: `/data/gateway/42/${dataset}/${hex(3_000)}` },
    at(operator, `/data?${key}`, "accepted"),
    at(operator, `/history?${key}`, "accepted"),
    ...["/datasets", "/overview"].map((path) => at(operator, path, "accepted")),
    ...both(operator),
  ];
}

/** Returns the address of a caller that made no request before. */
const newCaller = () => `10.${(++callers >> 16) & 255}.${(callers >> 8) & 255}.${callers & 255}`;
let callers = 0;

/** Has each of a few addresses repeat a request for a while. */
async function repeat(kind: Kind, seconds: number): Promise<void> {
  const addresses = times(ADDRESSES, newCaller);
  const end = performance.now() + seconds * 1_000;
  const answers: Promise<unknown>[] = [];
  while (performance.now() < end) {
    for (const address of addresses) answers.push(ask(kind, address));
    await sleep(1_000 / PER_SECOND);
  }
  await Promise.all(answers);
}

const processes = new Processes();
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => processes.close().finally(() => process.exit(1)));
try {
  const kinds = kindsOf(await processes.startLimited(1_000)).filter(({ name }) => name.includes(values.only));
  const tooDear: string[] = [];
  console.log(
    "| request | status | CPU ms a request | log bytes a request | cores of four addresses | their log in MB an hour |\n" +
      "|---|---|---|---|---|---|",
  );
  for (const kind of kinds) {
    // The first requests are slower, because code is compiled.
    for (let i = 0; i < 5; i++) await ask(kind, newCaller());
    const count = Number(values.requests);
    const statuses = new Set<number>();
    const one = await measure(kind.service, async () => {
      for (let i = 0; i < count; i++) statuses.add(await ask(kind, newCaller()));
    });
    const four = await measure(kind.service, () => repeat(kind, Number(values.seconds)));
    const cores = four.cpuMs / four.seconds / 1_000;
    const log = (four.log / four.seconds) * 0.0036;
    if (cores > MAX_CORE || log > MAX_LOG) tooDear.push(kind.name);
    const numbers = [(one.cpuMs / count).toFixed(2), Math.round(one.log / count), cores.toFixed(3), log.toFixed(1)];
    console.log(`| ${[kind.name, [...statuses].join(" "), ...numbers].join(" | ")} |`);
  }
  if (tooDear.length > 0) {
    console.error(
      `\nFour addresses can cause more than ${MAX_CORE} of a core or ${MAX_LOG} MB of log an hour by: ${tooDear.join("; ")}.`,
    );
    process.exitCode = 1;
  }
} finally {
  agent.destroy();
  await processes.close();
}
