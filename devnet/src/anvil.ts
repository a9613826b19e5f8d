import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { foundryBinary } from "@dataset-oracle/tools/foundry";

export interface AnvilOptions {
  /** A free port is taken when none is given. */
  readonly port?: number;
  readonly chainId?: number;
  /** Seconds from block to block. */
  readonly blockTime?: number;
}

/** A running chain. Its ten default accounts are unlocked and funded. */
export interface Anvil {
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process is gone, whoever ended it. */
  readonly exited: Promise<void>;
  /** Ends the chain, and resolves when its process is gone. */
  close(): Promise<void>;
}

const START_MS = 20_000;

/**
 * Starts a chain on loopback, and resolves when it answers.
 *
 * @throws When it does not answer in time, or its process ends.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const port = options.port ?? (await freePort());
  const args = [
    ...["--host", "127.0.0.1", "--port", String(port)],
    ...["--chain-id", String(options.chainId ?? 42)],
    ...["--block-time", String(options.blockTime ?? 1)],
    // Without a bound it keeps every state it ever had in memory.
    ...["--prune-history", "256"],
    "--silent",
  ];
  const child = spawn(foundryBinary("anvil"), args, { stdio: "ignore" });
  const exited = once(child, "exit").then(() => undefined);
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await exited;
  };
  const url = `http://127.0.0.1:${port}`;
  const isReady = await Promise.race([answersInTime(url), exited.then(() => false)]);
  if (!isReady || child.pid === undefined) {
    await close();
    throw new Error(`anvil did not start on port ${port}.`);
  }
  return { url, pid: child.pid, exited, close };
}

/** A port on loopback that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  return address.port;
}

async function answersInTime(url: string): Promise<boolean> {
  const end = Date.now() + START_MS;
  while (Date.now() < end) {
    if (await answers(url)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }),
      signal: AbortSignal.timeout(1_000),
    });
    return response.ok;
  } catch {
    return false;
  }
}
