import { lookup } from "node:dns/promises";
import type { Server } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { Type } from "@sinclair/typebox";
import Fastify from "fastify";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { ConfigError, TransientError } from "../config/config-error.js";
import { closeOnSignal } from "../process/close-on-signal.js";
import { wait } from "../process/context.js";
import type { App } from "./app.js";
import { AddressRanges } from "./caller-address.js";
import { CONNECTION_LIMITS, MaxConnections, MaxConnectionsPerCaller } from "./connection-limits.js";

/**
 * Returns the schema of the metrics settings. Metrics have an address of their own, because they are for the owner.
 *
 * @param port The default port.
 */
const metricsSettings = (port: number) => ({
  metricsHost: Type.String({
    minLength: 1,
    default: "127.0.0.1",
    description: "The address on which Prometheus reads /metrics.",
  }),
  metricsPort: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: port,
    description: "The port on which Prometheus reads /metrics; 0 takes a free one.",
  }),
});
interface MetricsSettings {
  readonly metricsHost: string;
  readonly metricsPort: number;
}

/**
 * Returns the schema of the settings that every service has: where it listens, and whose connections it takes.
 *
 * @param port The default port.
 * @param metricsPort The default port of the metrics.
 */
export const serverSettings = (port: number, metricsPort: number) => ({
  host: Type.String({ minLength: 1, default: "127.0.0.1", description: "The address to listen on." }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: port,
    description: "The port to listen on; 0 takes a free one.",
  }),
  ...metricsSettings(metricsPort),
  maxConnections: MaxConnections,
  maxConnectionsPerCaller: MaxConnectionsPerCaller,
  trustedProxies: AddressRanges({
    description: "Addresses or CIDR ranges of the reverse proxies whose X-Forwarded-For names the caller.",
  }),
});

interface Listener {
  readonly server: Server;
  listen(address: { host: string; port: number }): Promise<string>;
  addHook(name: "preClose" | "onClose", hook: () => Promise<void>): unknown;
}

/** The error codes of addresses that can never be listened on as configured. Others may be free or there later. */
const REFUSED = ["EACCES", "EINVAL", "EAFNOSUPPORT"];

const addressesOf = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Starts listening, at `localhost` on all of its addresses.
 *
 * @param settings The names of the two settings, for errors.
 * @param resolve Resolves `localhost`.
 * @returns The URL.
 * @throws TransientError when the address is in use or not there, ConfigError when it can never be listened on.
 */
export async function listen(
  app: Listener,
  { host, port }: { readonly host: string; readonly port: number },
  settings = { host: "host", port: "port" },
  resolve = addressesOf,
): Promise<string> {
  try {
    const [first = host, ...others] = host === "localhost" ? new Set(await resolve(host)) : [];
    const servers = others.map((address) => ({ address, start: addServer(app) }));
    const url = await app.listen({ host: first, port });
    const taken = (app.server.address() as AddressInfo).port;
    await Promise.all(servers.map(({ address, start }) => start(address, taken)));
    return url;
  } catch (error) {
    const { code = "", syscall } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new TransientError(
        `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another "${settings.port}".`,
      );
    }
    // Errors without a system call are bugs. The others mean that the address is refused or the host is unknown.
    if (syscall === undefined) throw error;
    const message = `Cannot listen on ${host}:${port} (${code}). Change "${settings.host}" or "${settings.port}".`;
    throw REFUSED.includes(code) ? new ConfigError(message) : new TransientError(message);
  }
}

/**
 * Makes a server whose connections are those of the app's own, with the same limits. Fastify would make one by itself,
 * which had none of them.
 *
 * @returns A function that starts it, or does without where the machine lacks the address. It rejects when that is in use:
 * what is sent to `localhost` could reach another program.
 */
function addServer(app: Listener): (host: string, port: number) => Promise<void> {
  // As Node's HTTP servers are.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    app.server.emit("connection", socket),
  );
  const close = () => new Promise<void>((done) => server.close(() => done()));
  app.addHook("preClose", async () => void close());
  app.addHook("onClose", close);
  return (host, port) =>
    new Promise((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? reject(error) : resolve()));
      server.maxConnections = app.server.maxConnections;
      server.listen({ host, port }, resolve);
    });
}

/** The server of the metrics; it answers until it is closed. */
interface MetricsServer {
  readonly url: string;
  /** Waits until the metrics were read, but not longer than so many milliseconds. */
  untilRead(ms: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves a registry's metrics at `/metrics`.
 *
 * @param isStarted Until it returns true, the answer is 503.
 * @throws ExitError when the address cannot be listened on.
 */
export async function serveMetrics(
  registry: Registry,
  { metricsHost, metricsPort }: MetricsSettings,
  isStarted: () => boolean,
): Promise<MetricsServer> {
  const app = Fastify({ ...CONNECTION_LIMITS, forceCloseConnections: true });
  app.get("/metrics", async (_request, reply) => {
    if (!isStarted()) return reply.status(503).send("The service is starting.\n");
    return reply.type(registry.contentType).send(await registry.metrics());
  });
  let nextRead = new AbortController();
  app.addHook("onResponse", async () => {
    nextRead.abort();
    nextRead = new AbortController();
  });
  const url = await listen(app, { host: metricsHost, port: metricsPort }, { host: "metricsHost", port: "metricsPort" });
  return {
    url: `${url}/metrics`,
    untilRead: (ms) => wait(ms, nextRead.signal),
    close: () => app.close(),
  };
}

/**
 * How long a process that nobody starts again waits for Prometheus, in milliseconds: a little more than the interval at
 * which it reads. Nothing else could tell it why the process has ended.
 */
const LAST_READ_MS = 20_000;

interface Phases {
  /**
   * Called when both addresses are this process's own, with a function that shuts it down with an exit code; unless that
   * is 1, after its metrics were read once more. What two processes must not both have is taken here, so that a second
   * one with the same configuration harms nobody.
   */
  readonly start?: (end: (exitCode: number) => void) => Promise<void>;
  /** Called before anything is closed. */
  readonly stop?: () => void;
}

/**
 * Serves an app and its metrics until the process is told to stop. The metrics are answered with 503 until it has
 * started; what the app answers until then is left to it.
 *
 * @throws ExitError when an address cannot be listened on.
 */
export async function serve(
  app: App,
  settings: MetricsSettings & { readonly host: string; readonly port: number },
  registry: Registry,
  logger: Logger,
  { start = async () => {}, stop = () => {} }: Phases = {},
): Promise<void> {
  let isStarted = false;
  await listen(app, settings);
  const metrics = await serveMetrics(registry, settings, () => isStarted);
  const end = closeOnSignal(logger, async () => {
    stop();
    await Promise.all([app.close(), metrics.close()]);
  });
  await start(async (exitCode) => {
    if (exitCode !== 1) await metrics.untilRead(LAST_READ_MS);
    end(exitCode);
  });
  isStarted = true;
  logger.info(`metrics for Prometheus at ${metrics.url}`);
}
