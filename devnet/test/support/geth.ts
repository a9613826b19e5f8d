import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { readyOrClosed, startProcess } from "@dataset-oracle/devnet/start-process";
import { gethBinary } from "@dataset-oracle/tools/compile-geth";
import { createPublicClient, http, stringToHex } from "viem";

/** The chain id of `geth --dev`. */
export const GETH_CHAIN_ID = 1337;
/** The only account of `geth --dev`. It is unlocked, and has more Ether than can be spent. */
export const GETH_ACCOUNT = "0x71562b71999873DB5b286dF957af199Ec94617F7";

/** A running geth with a chain of its own. */
export interface Geth {
  readonly url: string;
  /** Ends it, and starts it again on the same chain and port: it makes a block at once, then one each `blockSeconds`. */
  restart(blockSeconds: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * The rules of geth's chain: those of Amsterdam, or what `geth --dev` has by itself, which is the price of a
 * transaction and of its calldata before Amsterdam, but instructions of a later EVM.
 */
export type GethRules = "dev" | "amsterdam";

/** Under the rules of Amsterdam a dataset's deployment takes 27 million gas, and geth's own limit is too low. */
const RULES_ARGS: Readonly<Record<GethRules, readonly string[]>> = {
  dev: [],
  amsterdam: ["--override.amsterdam", "0", "--dev.gaslimit", "60000000"],
};

/** Reports whether geth is compiled. `npm run geth` compiles it. */
export const isGethCompiled = (): boolean => existsSync(gethBinary());

/** Starts geth on loopback, with a chain that has a block each second by default, and waits until it answers. */
export async function startGeth({
  rules = "dev",
  blockSeconds: first = 1,
  args = [],
}: {
  rules?: GethRules;
  blockSeconds?: number;
  args?: readonly string[];
} = {}): Promise<Geth> {
  const folder = mkdtempSync(join(tmpdir(), "geth-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const client = createPublicClient({ transport: http(url, { retryCount: 0 }) });
  let starts = 0;

  async function start(blockSeconds: number) {
    const mark = `start ${++starts}`;
    const geth = await startProcess({
      name: "geth",
      command: gethBinary(),
      args: [
        ...["--dev", "--dev.period", String(blockSeconds), "--datadir", folder, "--ipcdisable"],
        ...["--miner.extradata", mark, ...RULES_ARGS[rules], ...args],
        ...["--http", "--http.port", String(port), "--http.api", "eth,net,web3,debug,txpool"],
      ],
      logFile: join(folder, "log"),
      // It answers before it makes its first block, into which a transaction that is to stay pending must not get.
      isReady: async () => (await client.getBlock().catch(() => null))?.extraData === stringToHex(mark),
    });
    return readyOrClosed(geth);
  }

  let running = await start(first);
  return {
    url,
    async restart(blockSeconds) {
      // `close` would kill it after a while, and a geth that is killed loses the blocks whose state it has not written yet.
      process.kill(running.pid, "SIGTERM");
      await running.exited;
      running = await start(blockSeconds);
    },
    close: () => running.close(),
  };
}
