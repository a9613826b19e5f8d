import { setTimeout as sleep } from "node:timers/promises";
import type { TestChainClient } from "@dataset-oracle/devnet/test-support/chain-client";
import type { Devnet } from "./devnet-process.js";

/** A devnet that several groups of tests use one after the other, each with keys or arguments of its own. */
export interface OneDevnet {
  readonly devnet: Devnet;
  readonly chain: TestChainClient;
}

/** Waits for the next second: requests that are made then are of one round, which is newer than all before. */
export const nextRound = () => sleep(1_050 - (Date.now() % 1_000));
