import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { describeError } from "./chain/rpc-error.js";
import type { Network } from "./network.js";
import type { Operator } from "./operator.js";
import { Accuser } from "./statements/accuser.js";
import { MinedStatements } from "./statements/mined-statements.js";

/** The networks are looked at after this many polls of their RPC endpoints. */
const POLLS = 5;

/**
 * Follows which nodes are announced and what is signed in mined updates, and accuses members that contradicted themselves,
 * until the operator shuts down. It never throws.
 */
export async function watchNetworks(operator: Operator): Promise<void> {
  await Promise.all([...operator.networks.values()].map((network) => watchNetwork(operator, network)));
}

async function watchNetwork(operator: Operator, network: Network): Promise<void> {
  const { closing, logger } = operator;
  const { chainId, settings, datasets, directory, canHaveNodes } = network;
  const networkLog = logger.child({ network: chainId });
  const watch = async (log: Logger, what: string, look: () => Promise<void>) => {
    while (!closing.aborted) {
      await look().catch((error: unknown) => log.debug({ reason: describeError(error) }, `${what} cannot be read`));
      await delay(POLLS * settings.rpcPollMs, undefined, { signal: closing, ref: false }).catch(() => {});
    }
  };
  const accuser = new Accuser(operator, network);
  // None waits for another: an accusation can stay in its sender's queue for half a minute.
  const watches = [watch(networkLog, "contradictions", () => accuser.pursueAll())];
  if (directory !== null) watches.push(watch(networkLog, "the directory of nodes", () => directory.look()));
  for (const dataset of canHaveNodes ? datasets.values() : []) {
    const mined = new MinedStatements(network, dataset);
    watches.push(watch(networkLog.child({ dataset: dataset.address }), "mined updates", () => mined.read()));
  }
  await Promise.all(watches);
}
