import { readCommand } from "@dataset-oracle/service/process/arguments";
import { createContext } from "@dataset-oracle/service/process/context";
import { pino } from "pino";
import { Registry } from "prom-client";
import { onTestFinished } from "vitest";
import { loadOperatorConfig, type OperatorPlan } from "../../src/config.js";
import { USAGE } from "../../src/help-text.js";
import { Operator } from "../../src/operator.js";
import { checkSigners, loadSenderAccounts, type SenderAccounts } from "../../src/transactions/accounts.js";

/** An operator that has read its configuration and its keys. */
export interface PreparedOperator {
  readonly plan: OperatorPlan;
  readonly senders: SenderAccounts;
  readonly log: readonly string[];
  /** Connects its networks until the test has ended. */
  connect(): Promise<Operator>;
}

/**
 * Does in this process what main.ts does with a command line before it listens, because each process takes a second to
 * start.
 *
 * @throws ConfigError with which the process would exit.
 */
export async function prepareOperator(
  args: readonly string[],
  given: Readonly<Record<string, string>> = {},
): Promise<PreparedOperator> {
  const command = readCommand(args, USAGE);
  if (command.name === "help") throw new Error("--help prepares nothing.");
  const env = { ...given };
  const plan = await loadOperatorConfig(command.configFile, env);
  const chainIds = plan.networks.map(({ chainId }) => chainId);
  const closing = new AbortController();
  const senders = await loadSenderAccounts(env, chainIds, closing.signal);
  const log: string[] = [];
  return {
    ...{ plan, senders, log },
    async connect() {
      const logger = pino({ level: "debug" }, { write: (line: string) => log.push(line) });
      onTestFinished(() => closing.abort());
      await checkSigners(senders, logger);
      const context = createContext(logger, closing.signal, new Registry());
      return Operator.connect(plan.networks, senders, context);
    },
  };
}
