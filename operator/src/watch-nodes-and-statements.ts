import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { describeError } from "./chain/rpc-error.js";
import type { Network } from "./network.js";
import type { Operator } from "./operator.js";
import { Accuser } from "./statements/accuser.js";
import { MinedStatements } from "./statements/mined-statements.js";

/** Each network is looked at once in this many polling intervals of its RPC endpoints. */
const POLLS = 5;

/**
 * Follows which nodes are announced and what is signed in mined updates, and accuses members that contradicted themselves,
 * until the operator shuts down. It never throws.
 */
export async function watchNodesAndStatements(operator: Operator): Promise<void> {
  await Promise.all([...operator.networks.values()].map((network) => watchNetwork(operator, network)));
}

async function watchNetwork(operator: Operator, network: Network): Promise<void> {
  const { closing, logger } = operator;
  const { chainId, settings, datasets, directory, canHaveOtherNodes } = network;
  const networkLog = logger.child({ network: chainId });
  const watch = async (look: () => Promise<void>) => {
    for (;;) {
      await delay(POLLS * settings.rpcPollMs, undefined, { signal: closing, ref: false }).catch(() => {});
      if (closing.aborted) return;
      await look();
    }
  };
  const unread = (log: Logger, what: string) => (error: unknown) =>
    log.debug({ reason: describeError(error) }, `${what} cannot be read`);
  const accuser = new Accuser(operator, network);
  // They run independently: an accusation can stay in its sender's queue for half a minute.
  const watches = [watch(() => accuser.pursueAll())];
  if (directory !== null) {
    // It was looked at when the network was connected.
    watches.push(watch(() => directory.look().catch(unread(networkLog, "the directory of nodes"))));
  }
  for (const dataset of canHaveOtherNodes ? datasets.values() : []) {
    const mined = new MinedStatements(network, dataset);
    const read = () => mined.read().catch(unread(networkLog.child({ dataset: dataset.address }), "mined updates"));
    // The first reading only finds the head, so it does not wait.
    watches.push(read().then(() => watch(read)));
  }
  await Promise.all(watches);
}
