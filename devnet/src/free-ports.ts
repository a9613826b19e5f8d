import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Returns true if nothing listens on a port of loopback. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}

/** Below the ranges from which operating systems take the ports of outgoing connections. */
const FIRST_PORT = 20_000;
/** Vitest's workers run at the same time, so each has a range of its own: none is given the port of another. */
const PORTS_PER_WORKER = 3_000;

let lastPort: number | null = null;

/**
 * Returns a port on loopback that nothing listens on now, and that was not returned before.
 *
 * @param count How many ports in a row have to be free.
 * @returns The first of them.
 */
export async function freePort(count = 1): Promise<number> {
  const first = FIRST_PORT + PORTS_PER_WORKER * (Number(process.env.VITEST_POOL_ID ?? 0) % 4);
  for (;;) {
    const next = (lastPort ?? first + randomInt(PORTS_PER_WORKER)) + 1;
    const port = next + count > first + PORTS_PER_WORKER ? first : next;
    lastPort = port + count - 1;
    const areFree = await Promise.all(Array.from({ length: count }, (_, i) => isFree(port + i)));
    if (areFree.every(Boolean)) return port;
  }
}
