import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answersRpc, startAnvil } from "@dataset-oracle/devnet/anvil";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { GETH_CHAIN_ID, isGethCompiled, startGeth } from "@dataset-oracle/devnet/geth";
import { startProcess } from "@dataset-oracle/devnet/start-process";
import { folderOf } from "@dataset-oracle/tools/install-development-chains";
import type { TestNode } from "./chain.js";

/** All but anvil are installed by `npm run dev-chains`. */
export type ChainName = "anvil" | "hardhat-2" | "hardhat-3" | "ganache" | "geth";

const CHAIN_ID = 42;
/** Ganache does not start with 42, which it takes for Kovan. */
const GANACHE_CHAIN_ID = 1337;
/** Anvil's and Hardhat's own. */
const MNEMONIC = "test test test test test test test test test test test junk";
const EVERY_SECOND = "{ auto: false, interval: 1000 }";

export function isInstalled(name: ChainName): boolean {
  if (name === "anvil") return true;
  if (name === "geth") return isGethCompiled();
  return existsSync(join(folderOf(name), "node_modules", name.replace(/-\d$/, ""), "package.json"));
}

export function chainIdOf(name: ChainName): number {
  if (name === "geth") return GETH_CHAIN_ID;
  return name === "ganache" ? GANACHE_CHAIN_ID : CHAIN_ID;
}

/** Starts a chain that mines a block each second. It has the id of `chainIdOf`. */
export async function startDevelopmentChain(name: ChainName): Promise<TestNode> {
  switch (name) {
    case "anvil": {
      const { url, close } = await startAnvil({ chainId: CHAIN_ID });
      return { url, close, mode: "anvil" };
    }
    case "geth":
      return { ...(await startGeth()), mode: "geth" };
    case "hardhat-2": {
      const config = `module.exports = { networks: { hardhat: { chainId: ${CHAIN_ID}, mining: ${EVERY_SECOND} } } };\n`;
      writeFileSync(join(folderOf(name), "hardhat.config.cjs"), config);
      const main = "node_modules/hardhat/internal/cli/cli.js";
      const options = ["--config", "hardhat.config.cjs", "node", "--hostname", "127.0.0.1", "--port"];
      return start(name, "hardhat", (port) => [main, ...options, port]);
    }
    case "hardhat-3": {
      const network = `{ type: "edr-simulated", chainId: ${CHAIN_ID}, mining: ${EVERY_SECOND} }`;
      writeFileSync(join(folderOf(name), "hardhat.config.mjs"), `export default { networks: { node: ${network} } };\n`);
      const main = "node_modules/hardhat/dist/src/cli.js";
      const options = ["--config", "hardhat.config.mjs", "node", "--hostname", "127.0.0.1", "--port"];
      return start(name, "hardhat", (port) => [main, ...options, port]);
    }
    case "ganache": {
      const chain = [
        "--chain.chainId",
        String(GANACHE_CHAIN_ID),
        "--wallet.mnemonic",
        MNEMONIC,
        "--miner.blockTime",
        "1",
      ];
      return start(name, "ganache", (port) => [
        "node_modules/ganache/dist/node/cli.js",
        "--server.port",
        port,
        ...chain,
      ]);
    }
  }
}

/** @param argsAt Returns the arguments for a port. The first is the program, in the chain's folder. */
async function start(
  name: Exclude<ChainName, "anvil" | "geth">,
  mode: "hardhat" | "ganache",
  argsAt: (port: string) => string[],
) {
  const folder = folderOf(name);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [main = "", ...args] = argsAt(String(port));
  const ownNode = join(folder, "node_modules", "node", "bin", "node");
  const node = await startProcess({
    name,
    command: existsSync(ownNode) ? ownNode : process.execPath,
    args: [join(folder, main), ...args],
    cwd: folder,
    logFile: join(folder, "log"),
    env: { HARDHAT_DISABLE_TELEMETRY_PROMPT: "true" },
    isReady: () => answersRpc(url),
  });
  try {
    await node.ready();
  } catch (error) {
    await node.close();
    throw error;
  }
  return { url, mode, close: () => node.close() };
}
