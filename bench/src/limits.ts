// Measures what strangers can cost both services: the CPU time of the main thread and the bytes of the log of the dearest
// requests of each route, accepted and refused, and what four addresses can cause within the default limits.

import { readFileSync, statSync } from "node:fs";
import { Agent, request as send } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "@dataset-oracle/devnet/service-process";
import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { CHUNKED_COST, FLOOD_FACTOR, HEALTH_RATE } from "@dataset-oracle/service/http-server/rate-limit";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { encodeFunctionData, type Hex } from "viem";
import { type LimitedServices, Processes } from "./processes.js";
import { FAILING_SPEC_HASH, newWebOracleKey } from "./web-oracle.js";

const ADDRESSES = 4;
/** After so many requests in a minute, new connections included, a service closes all connections of an address. */
const FLOOD = FLOOD_FACTOR * Number(HEALTH_RATE.perMinute);
/** For four addresses: the share of a core, and megabytes of log an hour. */
const MAX_CORE = 0.1;
const MAX_LOG = 10;
/** How many requests are made at a time where they are not paced, and for how long at most. */
const AT_ONCE = 16;
const MAX_BURST_MS = 10_000;
/** How many requests above the limit are made. */
const ABOVE = 100;
/** How long requests wait for their answers. */
const TIMEOUT_MS = 5_000;

const USAGE = `Usage: npm run bench:limits [-- --seconds N --only NAME]

Prints what a request of a stranger costs a provider and an operator: the CPU time of the main thread and the bytes of
the log, for the dearest requests of each route that are accepted and refused, and for those above the limit. It exits
with 1 if ${ADDRESSES} addresses can take more than ${MAX_CORE} of a core by one of them, or ${MAX_LOG} MB of log an hour. That is computed from
how many an address may make in a minute, from their cost at that rate, and from the cost of the refusals until a
service closes the connections of the address. It takes about 6 minutes, and needs Linux.

  --seconds N    for how long each request is made at the rate of ${ADDRESSES} addresses (default: 4)
  --only NAME    the requests whose name contains this text
  --help         show this text

Example
  npm run bench:limits -- --only batch --seconds 60`;

interface Kind {
  readonly name: string;
  readonly service: ServiceProcess;
  readonly path: string | (() => string);
  /** Makes the body of a POST. Without it, the request is a GET. */
  readonly body?: () => string;
  readonly headers?: Readonly<Record<string, string>>;
  /** By default POST for a body, else GET. */
  readonly method?: string;
  /** Whether each byte of the body is sent as a chunk. */
  readonly isChunked?: boolean;
}

const PREFLIGHT = {
  origin: "https://dapp.example",
  "access-control-request-method": "POST",
  "access-control-request-headers": "content-type",
};

const { values } = readArguments(USAGE, {
  seconds: { type: "string", default: "4", range: [1, 3_600] },
  only: { type: "string", default: "" },
});
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

interface AnswerHead {
  /** 0 where none came in time. */
  readonly status: number;
  /** The limits on the requests of a caller in a minute that its headers state. */
  readonly limits: readonly number[];
}

/** Sends one request for a caller, and returns its answer. */
function ask(kind: Kind, caller: string): Promise<AnswerHead> {
  const { service, path, body, headers: more, isChunked = false } = kind;
  const text = body?.();
  const headers = {
    "x-forwarded-for": caller,
    ...(text !== undefined && { "content-type": "application/json" }),
    ...more,
  };
  const url = service.url + (typeof path === "string" ? path : path());
  const { method = text === undefined ? "GET" : "POST" } = kind;
  return new Promise((done, failed) => {
    const sent = send(url, { agent, method, headers, signal: AbortSignal.timeout(TIMEOUT_MS) }, (answer) => {
      const policy = String(answer.headers["ratelimit-policy"] ?? "");
      // Those of all callers together are higher.
      const limits = [...policy.matchAll(/q=(\d+)/g)].map(([, limit]) => Number(limit)).filter((one) => one < FLOOD);
      const end = () => done({ status: answer.statusCode ?? 0, limits });
      answer.resume().once("end", end).once("error", end);
    });
    sent.once("error", (error) => {
      if (error.name === "AbortError" || error.name === "TimeoutError") done({ status: 0, limits: [] });
      // A body that is too long is refused while it is sent.
      else if ("code" in error && ["EPIPE", "ECONNRESET"].includes(String(error.code)))
        done({ status: 413, limits: [] });
      else failed(error);
    });
    if (isChunked) for (const byte of text ?? "") sent.write(byte);
    sent.end(isChunked ? undefined : text);
  });
}

/** Reads the CPU time of a process's main thread in milliseconds, and the size of its log in bytes. */
function usageOf({ pid, logFile }: ServiceProcess) {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return { cpuMs: Number(nanoseconds) / 1e6, log: statSync(logFile).size };
}

async function measure(service: ServiceProcess, work: () => Promise<unknown>) {
  const before = usageOf(service);
  await work();
  // The log is written after 100 ms.
  await sleep(200);
  const after = usageOf(service);
  return { cpuMs: after.cpuMs - before.cpuMs, log: after.log - before.log };
}

const now = () => Math.floor(Date.now() / 1_000);
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

function kindsOf({ provider, operator, dataset, webDataset, keys }: LimitedServices): Kind[] {
  let last = 0;
  const name = () => keys[last++ % keys.length] ?? "";
  const spot = () => spotPriceKey(name().slice("SPOTPX/".length));
  // Of each key five rounds can be decided at a time.
  const round = () => now() - (Math.floor(last / keys.length) % 5);
  const about = (address: string) => ({ network_id: 42, dataset: address, timestamp: round() });
  const hex = (bytes: number): Hex => `0x${"ab".repeat(bytes)}`;
  const row = (more: () => object) => () => JSON.stringify({ ...about(dataset), ...more() });
  const web = (more: () => object) => () => JSON.stringify({ ...about(webDataset), ...more() });
  const long = times(255, (i) => hex(254) + i.toString(16).padStart(4, "0"));
  /** Keys of specs that nobody has published. */
  const unpublished = () => newWebOracleKey((hex(28) + (last++).toString(16).padStart(8, "0")) as Hex);
  // Written in another way than JSON.stringify does, which takes the slow parser.
  const unusual = (body: string) => () => body.replace("{", '{ "timestamp": 1.50, ');
  const members = (count: number) => `{${times(count, (i) => `"k${i}":1`).join(",")}}`;
  const brackets = (count: number) => () => `{"keys":[${"[".repeat(count)}${"]".repeat(count)}]}`;
  const at = (
    service: ServiceProcess,
    path: Kind["path"],
    what: string,
    body?: () => string,
    headers: Kind["headers"] = {},
  ): Kind => {
    const route = (typeof path === "string" ? path : path()).replace(/\?.*|0x[\da-fA-F/x]+|x{9,}/, "");
    const method = body === undefined ? "GET" : "POST";
    const title = `${service.name.replace(/-.*/, "")} ${method} ${route} ${what}`;
    return { name: title, service, path, headers, ...(body !== undefined && { body }) };
  };
  const stream = { accept: "text/event-stream" };
  const wanted = (more: object = {}) =>
    JSON.stringify({ network_id: 42, dataset, key: name(), broadcast: false, ...more });
  const unknown = () => `SPOTPX/NO${last++}-USD`;
  const call = (key: string) =>
    encodeFunctionData({
      ...{ abi: updateGatewayAbi, functionName: "fetchUpdate" },
      args: [dataset, spotPriceKey(key.slice("SPOTPX/".length))],
    });
  const query = () => `network_id=42&dataset=${dataset}&key=${encodeURIComponent(name())}`;
  const first = `network_id=42&dataset=${dataset}&key=${encodeURIComponent(keys[0] ?? "")}`;
  const manyParameters = times(600, (i) => `k${i}=1`).join("&");
  const both = (service: ServiceProcess) => [
    ...["/live", "/ready", "/openapi.json"].map((path) => at(service, path, "accepted")),
    at(service, () => `/nowhere/${"x".repeat(7_000)}`, "refused"),
  ];
  const report = "/report";
  const batch = "/report/batch";
  const request = "/data/request";
  const gateway = "/gateway/42";
  return [
    at(
      provider,
      report,
      "accepted: a price",
      row(() => ({ key: spot() })),
    ),
    at(
      provider,
      report,
      "accepted: a key of the Web Oracle",
      web(() => ({ key: newWebOracleKey() })),
    ),
    at(
      provider,
      report,
      "accepted: a key of the Web Oracle whose host fails",
      web(() => ({ key: newWebOracleKey(FAILING_SPEC_HASH) })),
    ),
    at(
      provider,
      report,
      "refused: an unpublished spec",
      web(() => ({ key: unpublished() })),
    ),
    at(
      provider,
      report,
      "refused: an unknown key",
      row(() => ({ key: spotPriceKey(unknown().slice(7)) })),
    ),
    at(
      provider,
      report,
      "refused: an old round",
      row(() => ({ key: spot(), timestamp: 1_000_000_000 })),
    ),
    at(provider, report, "refused: 1,500 unknown members", () => members(1_500)),
    at(provider, report, "refused: an unusual body of 16 KB", unusual(members(1_400))),
    at(provider, report, "refused: a body that is too long", () => members(20_000)),
    at(
      provider,
      batch,
      "accepted: 256 prices",
      row(() => ({ keys: times(256, spot) })),
    ),
    at(
      provider,
      batch,
      "accepted: 256 keys of the Web Oracle",
      web(() => ({ keys: times(256, () => newWebOracleKey()) })),
    ),
    at(
      provider,
      batch,
      "accepted: 256 keys of the Web Oracle whose host fails",
      web(() => ({ keys: times(256, () => newWebOracleKey(FAILING_SPEC_HASH)) })),
    ),
    at(
      provider,
      batch,
      "refused: 256 keys of the Web Oracle at an old round",
      web(() => ({ keys: times(256, () => newWebOracleKey()), timestamp: 1_000_000_000 })),
    ),
    at(
      provider,
      batch,
      "refused: 256 unpublished specs",
      web(() => ({ keys: times(256, unpublished) })),
    ),
    at(
      provider,
      batch,
      "refused: a long key twice",
      row(() => ({ keys: [...long, long[0]] })),
    ),
    at(
      provider,
      batch,
      "refused: 256 long keys of no form",
      row(() => ({ keys: long })),
    ),
    at(provider, batch, "refused: an unusual body of 137 KB", unusual(row(() => ({ keys: long }))())),
    at(provider, batch, "refused: 60,000 brackets", brackets(60_000)),
    { ...at(provider, batch, "refused: 10,000 chunks", () => " ".repeat(10_000)), isChunked: true },
    ...both(provider),
    at(operator, request, "accepted", () => wanted()),
    at(operator, request, "accepted: a stream", () => wanted(), stream),
    at(operator, request, "accepted: a key of the Web Oracle", () =>
      wanted({ dataset: webDataset, key: newWebOracleKey() }),
    ),
    at(operator, request, "accepted: a broadcast", () => wanted({ broadcast: true })),
    at(operator, request, "accepted: a broadcast, until it is mined", () => wanted({ broadcast: true }), {
      prefer: "wait=10",
    }),
    at(operator, request, "refused: another preference", () => wanted({ broadcast: true }), { prefer: "wait=soon" }),
    at(operator, request, "refused: an unusual body of 16 KB", unusual(members(1_400))),
    at(operator, request, "refused: 1,500 unknown members", () => members(1_500)),
    at(operator, request, "refused: 8,000 brackets", brackets(8_000)),
    at(operator, request, "refused: a body that is too long", () => members(20_000)),
    { ...at(operator, request, "refused: 10,000 chunks", () => " ".repeat(10_000)), isChunked: true },
    {
      ...{ name: "operator OPTIONS /data/request accepted", service: operator, path: request },
      ...{ method: "OPTIONS", headers: PREFLIGHT },
    },
    at(operator, request, "refused: an unknown key", () => wanted({ key: unknown() })),
    at(operator, request, "refused: an unknown key, as a stream", () => wanted({ key: unknown() }), stream),
    at(operator, request, "refused: a broadcast of an unknown key", () => wanted({ key: unknown(), broadcast: true })),
    at(operator, request, "refused: an unknown dataset", () => wanted({ dataset: hex(20) })),
    at(operator, gateway, "accepted", () => JSON.stringify({ sender: dataset, data: call(name()) })),
    at(operator, gateway, "refused: no lookup", () => JSON.stringify({ sender: dataset, data: hex(7_000) })),
    at(operator, () => `${gateway}/${dataset}/${call(name())}`, "accepted"),
    at(operator, `${gateway}/${dataset}/${hex(3_000)}`, "refused: no lookup"),
    at(operator, () => `/data?${query()}`, "accepted"),
    at(operator, `/data?${manyParameters}`, "refused: 600 parameters"),
    at(operator, () => `/history?${query()}&limit=100`, "accepted"),
    at(operator, () => `/history?${first}&limit=${1 + (last++ % 100)}`, "accepted: one key"),
    at(operator, `/history?${manyParameters}`, "refused: 600 parameters"),
    ...["/datasets", "/overview", "/", "/guide/"].map((path) => at(operator, path, "accepted")),
    ...both(operator),
  ];
}

/** Returns the address of a caller that made no request before. */
const newCaller = () => `10.${(++callers >> 16) & 255}.${(callers >> 8) & 255}.${callers & 255}`;
let callers = 0;

/** Tells whether an answer says that its caller is above a limit. The gateway answers so with 503. */
const isAbove = ({ status }: AnswerHead, usual: AnswerHead) => [429, 503].includes(status) && status !== usual.status;

/**
 * Has an address make as many requests at once as it may in a minute.
 *
 * @param untilAbove Whether it stops at the first that is above a limit.
 * @returns How many it made before.
 */
async function useUp(
  kind: Kind,
  caller: string,
  usual: AnswerHead,
  count: number,
  untilAbove: boolean,
): Promise<number> {
  const end = performance.now() + MAX_BURST_MS;
  let [made, above] = [0, 0];
  await Promise.all(
    times(AT_ONCE, async () => {
      while (made < count && performance.now() < end && !(untilAbove && above > 0)) {
        made += 1;
        if (isAbove(await ask(kind, caller), usual)) above += 1;
      }
    }),
  );
  return made - above;
}

/** Has a request made so often in a minute, each by another address. */
async function pace(kind: Kind, perMinute: number, seconds: number): Promise<number> {
  const count = Math.max(1, Math.round((perMinute / 60) * seconds));
  const start = performance.now();
  const answers: Promise<unknown>[] = [];
  for (let i = 1; i <= count; i++) {
    answers.push(ask(kind, newCaller()));
    await sleep(Math.max(0, start + (i / count) * seconds * 1_000 - performance.now()));
  }
  await Promise.all(answers);
  return count;
}

/** Measures one kind of request, and returns its line of the table. */
async function lineOf(kind: Kind, seconds: number) {
  // The first requests are slower, because code is compiled.
  let usual = await ask(kind, newCaller());
  for (let i = 0; i < 4; i++) usual = await ask(kind, newCaller());
  const most = Math.max(1, ...usual.limits);
  const caller = newCaller();
  let perMinute = 0;
  const burst = await measure(kind.service, async () => {
    perMinute = await useUp(kind, caller, usual, most, true);
  });
  // What is above another limit than that on requests can cost more: a body may have been read.
  const rest = await measure(kind.service, () => useUp(kind, caller, usual, most - perMinute, false));
  const above = await measure(kind.service, async () => {
    for (let i = 0; i < ABOVE; i++) await ask(kind, caller);
  });
  let count = 0;
  const start = performance.now();
  const paced = await measure(kind.service, async () => {
    count = await pace(kind, ADDRESSES * perMinute, seconds);
  });
  const ofPaced = paced.cpuMs / (performance.now() - start);
  const flood = kind.isChunked ? FLOOD / CHUNKED_COST : FLOOD;
  const ofAbove = (ADDRESSES * (rest.cpuMs + (Math.max(0, flood - most) * above.cpuMs) / ABOVE)) / 60_000;
  return {
    status: usual.status,
    perMinute,
    cpuMs: paced.cpuMs / count,
    log: paced.log / count,
    aboveMs: above.cpuMs / ABOVE,
    cores: ofPaced + ofAbove,
    logMbPerHour: (ADDRESSES * 60 * (burst.log + rest.log + above.log)) / 1e6,
  };
}

const processes = new Processes();
try {
  const kinds = kindsOf(await processes.startLimited(1_000)).filter(({ name }) => name.includes(values.only));
  const tooDear: string[] = [];
  console.log(
    "| request | status | a minute | CPU ms each | log bytes each | CPU ms above the limit | cores of four addresses | " +
      "their log in MB an hour |\n|---|---|---|---|---|---|---|---|",
  );
  // The first requests of a service are slower, because code is compiled.
  for (const service of new Set(kinds.map((kind) => kind.service))) {
    for (const kind of kinds.filter((one) => one.service === service).slice(0, 1)) await lineOf(kind, 1);
  }
  for (const kind of kinds) {
    const line = await lineOf(kind, Number(values.seconds));
    const { status, perMinute, cpuMs, log, aboveMs, cores, logMbPerHour } = line;
    if (cores > MAX_CORE || logMbPerHour > MAX_LOG) tooDear.push(kind.name);
    const numbers = [cpuMs.toFixed(2), Math.round(log), aboveMs.toFixed(2), cores.toFixed(3), logMbPerHour.toFixed(1)];
    console.log(`| ${[kind.name, status, perMinute, ...numbers].join(" | ")} |`);
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
