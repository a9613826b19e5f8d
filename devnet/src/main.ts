#!/usr/bin/env node
import { writeFileSync } from "node:fs";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { runMain } from "@dataset-oracle/service/process";
import { createPublicClient, http } from "viem";
import { spawnAnvil } from "./anvil.js";
import { deploy } from "./deploy.js";
import { createFolder } from "./folder.js";
import { Parts } from "./parts.js";
import { requireFreePorts } from "./ports.js";
import { PROVIDERS } from "./roles.js";
import { startMarket, startOperator, startProviders } from "./services.js";
import { HELP, neededPorts, parseSettings, type Settings } from "./settings.js";
import { addresses, summary } from "./summary.js";
import { publishExamples } from "./web-oracle.js";

await runMain(async () => {
  const settings = parseSettings(process.argv.slice(2));
  if (!settings) return console.log(HELP);
  await requireFreePorts(neededPorts(settings, PROVIDERS.length));

  const parts = new Parts();
  const end = async (exitCode: number) => {
    await parts.close();
    process.exit(exitCode);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      console.log("\nEnding everything.");
      void end(0);
    });
  }
  // A killed npm cannot pass a signal on: what it started would stay behind.
  if (process.env.npm_lifecycle_event === "start") onParentGone(() => void end(1));
  const fail = (message: string) => {
    // What fails because everything is being ended is no news.
    if (parts.isClosing) return;
    console.error(message);
    void end(1);
  };
  await start(settings, parts, fail).catch((error: Error) => fail(error.message));
});

async function start(settings: Settings, parts: Parts, fail: (message: string) => void): Promise<void> {
  const folder = createFolder(settings.chainPort);

  step("Starting the chain");
  const chain = await spawnAnvil({ port: settings.chainPort, chainId: 42, blockTime: 1 });
  parts.own(chain, () => fail("The chain has ended by itself, and so does everything else."));
  await chain.ready();

  step("Compiling and deploying the contracts");
  const deployed = await deploy(chain.url, folder, parts);

  if (!settings.isLive) {
    step("Starting the simulated market");
    const market = await startMarket(settings, folder);
    parts.own(market, () => console.log("The simulated market has ended: the providers have no values any more."));
    await market.ready();
  }

  step(`Starting ${PROVIDERS.length} data providers`);
  const providers = await startProviders(settings, chain.url, folder);
  for (const { process: child, command } of providers) {
    parts.own(child, () =>
      console.log(`${child.name} has ended. To start it again (and to end it yourself, later):\n  ${command}`),
    );
  }
  await Promise.all(providers.map((provider) => provider.process.ready()));

  step("Starting the operator");
  const operator = await startOperator(settings, chain.url, folder);
  parts.own(operator, () =>
    fail(`The operator has ended by itself, and so does everything else: ${folder.file("logs", "operator.log")}.`),
  );
  await operator.ready();

  // What they ask is a part of the simulated market.
  if (!settings.isLive) step("Publishing the Web Oracle's example specs");
  const examples = settings.isLive ? [] : await publishExamples(chain.url, folder, deployed.webOracle);

  const client = createPublicClient({ transport: http(chain.url) });
  const { address } = deployed.dataset;
  const queryPrice = await client.readContract({ address, abi: datasetAbi, functionName: "queryPrice" });
  const isTerminal = process.stdout.isTTY === true && !process.env.NO_COLOR;
  const running = { settings, chainUrl: chain.url, deployed, queryPrice, providers, examples, folder };
  writeFileSync(folder.file("devnet.json"), `${JSON.stringify(addresses(running), null, 2)}\n`);
  console.log(
    `${process.uptime().toFixed(1).padStart(5)} s  The devnet is ready.\n\n${summary(running, isTerminal)}\n`,
  );
}

/** Says what is under way, and after how many seconds it began: the first compilation is long. */
function step(text: string): void {
  console.log(`${process.uptime().toFixed(1).padStart(5)} s  ${text} ...`);
}

function onParentGone(action: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    action();
  }, 500);
  timer.unref();
}
