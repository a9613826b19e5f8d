import type { App } from "@dataset-oracle/service/http-server/app";
import { repeat } from "@dataset-oracle/service/process/context";
import type { FastifyInstance } from "fastify";
import { describeError } from "../../rpc/rpc-error.js";
import type { ServedNetwork } from "../../served-network.js";
import { Accuser } from "./accuser.js";
import { HeldStatements } from "./held-statements.js";
import { MinedStatements } from "./mined-statements.js";

/** How often mined updates are read, and accusations pursued. */
const LOOK_MS = 10_000;

/**
 * Finds providers that contradict themselves, in what this operator was sent and in mined updates. They count as absent
 * from then on, and are accused on chain.
 *
 * @param lookMs How often it looks; shorter in tests.
 */
export async function watchdog(
  scope: FastifyInstance,
  { lookMs = LOOK_MS }: { readonly lookMs?: number },
): Promise<void> {
  const app = scope as unknown as App;
  const { context } = app.operator;
  const running: Promise<void>[] = [];
  app.operator.eachNetwork((network) => {
    const held = new HeldStatements(context.clock);
    for (const { source } of network.datasets.values()) {
      source.addFilter((dataset, statement) => held.add(dataset, statement) !== "contradicted");
    }
    running.push(watchNetwork(network, held));
  });

  /** Runs until the operator shuts down. It never throws. */
  async function watchNetwork(network: ServedNetwork, held: HeldStatements): Promise<void> {
    const log = context.logger.child({ network: network.chainId });
    const accuser = new Accuser(network, held, context, log);
    const readings = [...network.datasets.values()].map(({ dataset }) => {
      const mined = new MinedStatements(dataset, held);
      return () =>
        mined.read().catch((error: unknown) => {
          log.debug({ dataset: dataset.address, reason: describeError(error) }, "mined updates cannot be read");
        });
    });
    // The first readings only find the head, so they do not wait.
    await Promise.all(readings.map((read) => read()));
    // Nothing waits for an accusation, which can stay in its sender's queue for half a minute.
    const looks = [async () => void accuser.pursueAll(), ...readings];
    await Promise.all(looks.map((look) => repeat(lookMs, context.closing, look)));
  }

  app.addHook("onClose", () => Promise.all(running));
}
