import { withDeadline } from "@dataset-oracle/service/process/context";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { createTestClient, http } from "viem";
import type { DevnetContext } from "./devnet-context.js";
import { freePort } from "./free-ports.js";
import { type Process, readyOrClosed, startProcess } from "./start-process.js";

interface AnvilOptions {
  /** A free port by default. */
  readonly port?: number;
  readonly chainId?: number;
  /** Seconds between blocks, 1 by default; null for a block with each transaction. */
  readonly blockTime?: number | null;
  /** The gas limit of a block. */
  readonly gasLimit?: number;
  /** The version of the EVM, in lower case; the newest by default. */
  readonly hardfork?: string;
  /** The time of the first block, in seconds since 1970; now by default. */
  readonly timestamp?: number;
}

/** A running chain. Its ten default accounts are unlocked and funded. */
export interface Anvil extends Process {
  readonly url: string;
}

/**
 * Starts the devnet's chain, where each transaction makes a block at once until `startBlocks`: the deployment waits for
 * none. If it ends by itself, everything else ends too.
 */
export async function startChain({ options, components }: DevnetContext): Promise<void> {
  const chain = await spawnAnvil({ port: options.chainPort, blockTime: null });
  const message = 'The chain has ended unexpectedly. Stopping everything. Run "npm start" to start again.';
  components.add(chain, () => void components.end(1, message));
  await chain.ready();
}

/** From now on the devnet's chain has a block each second. */
export async function startBlocks({ chainUrl }: DevnetContext): Promise<void> {
  await createTestClient({ mode: "anvil", transport: http(chainUrl) }).setIntervalMining({ interval: 1 });
}

/** Starts a chain on loopback. It answers once it is `ready`. */
async function spawnAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const child = await startProcess({
    name: "anvil",
    command: foundryBinary("anvil"),
    args: [
      ...["--host", "127.0.0.1", "--port", String(port)],
      ...["--chain-id", String(options.chainId ?? 42)],
      ...(options.blockTime === null ? [] : ["--block-time", String(options.blockTime ?? 1)]),
      ...(options.gasLimit === undefined ? [] : ["--gas-limit", String(options.gasLimit)]),
      ...(options.hardfork === undefined ? [] : ["--hardfork", options.hardfork]),
      ...(options.timestamp === undefined ? [] : ["--timestamp", String(options.timestamp)]),
      // By default anvil keeps every past state in memory.
      ...["--prune-history", "256"],
      "--silent",
    ],
    isReady: () => answersRpc(url),
  });
  return { ...child, url };
}

/**
 * Starts a chain on loopback and waits until it answers.
 *
 * @throws If it does not answer in time, or its process ends.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  return readyOrClosed(await spawnAnvil(options));
}

/** Returns true if a JSON-RPC call is answered with success, on any development chain. */
export async function answersRpc(url: string): Promise<boolean> {
  try {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
    const ask = (signal: AbortSignal) => fetch(url, { method: "POST", headers, body, signal });
    return (await withDeadline(1_000, undefined, ask)).ok;
  } catch {
    return false;
  }
}
