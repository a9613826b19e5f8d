import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answersRpc } from "@dataset-oracle/devnet/anvil";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { readyOrClosed, startProcess } from "@dataset-oracle/devnet/start-process";
import { GETH_CHAIN_ID, isGethCompiled, startGeth } from "@dataset-oracle/devnet/test-support/geth";
import type { TestNode } from "../operator/test/support/chain.js";
import { NEWER, nodeBinary } from "./nodes.js";

export type ChainName = "hardhat-2" | "hardhat-3" | "ganache" | "geth" | "geth-amsterdam";

const CHAIN_ID = 42;
/** Ganache does not start with 42, which it takes for Kovan. */
const GANACHE_CHAIN_ID = 1337;
/** Anvil's and Hardhat's own. */
const MNEMONIC = "test test test test test test test test test test test junk";

/** Geth is not on npm: `npm run geth` compiles it. */
export const isInstalled = (name: ChainName): boolean => !isGeth(name) || isGethCompiled();

const isGeth = (name: ChainName) => name === "geth" || name === "geth-amsterdam";

export function chainIdOf(name: ChainName): number {
  if (isGeth(name)) return GETH_CHAIN_ID;
  return name === "ganache" ? GANACHE_CHAIN_ID : CHAIN_ID;
}

/** Starts a chain that mines a block each second. It has the id of `chainIdOf`. */
export async function startDevelopmentChain(name: ChainName): Promise<TestNode> {
  switch (name) {
    case "geth":
      return { ...(await startGeth()), mode: "geth" };
    case "geth-amsterdam":
      return { ...(await startGeth({ rules: "amsterdam" })), mode: "geth" };
    case "hardhat-2":
      return startHardhat(name, "node_modules/hardhat/internal/cli/cli.js");
    case "hardhat-3":
      return startHardhat(name, "../node_modules/hardhat/dist/src/cli.js");
    case "ganache": {
      const block = ["--miner.blockTime", "1"];
      const chain = ["--chain.chainId", String(GANACHE_CHAIN_ID), "--wallet.mnemonic", MNEMONIC, ...block];
      const program = join(import.meta.dirname, "node_modules/ganache/dist/node/cli.js");
      return start(name, "ganache", import.meta.dirname, (port) => [program, "--server.port", port, ...chain]);
    }
  }
}

/** Starts Hardhat in the folder that has its configuration. */
function startHardhat(name: "hardhat-2" | "hardhat-3", program: string) {
  const folder = join(import.meta.dirname, name);
  const options = ["node", "--hostname", "127.0.0.1", "--port"];
  return start(name, "hardhat", folder, (port) => [join(folder, program), ...options, port]);
}

/** @param argsAt Returns the program and its arguments for a port. */
async function start(name: ChainName, mode: "hardhat" | "ganache", cwd: string, argsAt: (port: string) => string[]) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const node = await startProcess({
    name,
    command: nodeBinary(NEWER),
    args: argsAt(String(port)),
    cwd,
    logFile: join(mkdtempSync(join(tmpdir(), "chain-")), "log"),
    env: { HARDHAT_DISABLE_TELEMETRY_PROMPT: "true" },
    isReady: () => answersRpc(url),
  });
  await readyOrClosed(node);
  return { url, mode, close: () => node.close() };
}
