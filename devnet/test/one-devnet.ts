import { createTestClient, http, publicActions } from "viem";
import type { Devnet } from "./devnet-process.js";

/** A devnet that several groups of tests use one after the other, each with keys or arguments of its own. */
export interface OneDevnet {
  readonly devnet: Devnet;
  readonly chain: ReturnType<typeof connect>;
}

/** Returns a client of the devnet's chain. */
export const connect = (url: string) =>
  createTestClient({ mode: "anvil", transport: http(url), pollingInterval: 100 }).extend(publicActions);

/** Waits for the next second: requests that are made then are of one round, which is newer than all before. */
export const nextRound = () => new Promise((resolve) => setTimeout(resolve, 1_050 - (Date.now() % 1_000)));
