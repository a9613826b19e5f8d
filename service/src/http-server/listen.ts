import { lookup } from "node:dns/promises";
import type { Server } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { ConfigError, TransientError } from "../config/config-error.js";

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
