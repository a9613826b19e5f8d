import { styleText } from "node:util";
import { spotPriceKey } from "@dataset-oracle/protocol/key";
import { formatEther } from "viem";
import type { Deployed } from "./deploy.js";
import type { Folder } from "./folder.js";
import { CALLER, OPERATOR } from "./roles.js";
import { operatorUrl, type Provider } from "./services.js";
import type { Settings } from "./settings.js";
import { type PublishedExample, publishArguments } from "./web-oracle.js";

/** What the table shows of the running devnet. */
export interface Running {
  readonly settings: Settings;
  readonly chainUrl: string;
  readonly deployed: Deployed;
  /** In wei. */
  readonly queryPrice: bigint;
  readonly providers: readonly Provider[];
  readonly examples: readonly PublishedExample[];
  readonly folder: Folder;
}

/** What a person sees when everything runs: what is where, and commands to paste. */
export function summary(running: Running, isTerminal: boolean): string {
  const bold = (text: string) => (isTerminal ? styleText("bold", text) : text);
  const dim = (text: string) => (isTerminal ? styleText("dim", text) : text);
  const { dataset, webOracle } = running.deployed;
  const rows = [
    ["page", `${operatorUrl(running.settings)}/  everything here, to look at and to try`],
    ["guide", `${operatorUrl(running.settings)}/guide/  the documents; the five-minute tour is in tour/`],
    ["dataset", `${dataset.address}  ${dataset.name}, ${dataset.kind}, ${dataset.keys.length} keys`],
    ["committee", `${running.providers.length} providers, more than two thirds must sign`],
    ["price", `${running.queryPrice} wei (${formatEther(running.queryPrice)} ether) a query`],
    ["consumer", `${running.deployed.consumer}  test/examples/SpotPriceConsumer.sol`],
    ["web oracle", `${webOracle.numbers}  numbers`],
    ["", `${webOracle.words}  words: true and false, bytes32, strings`],
    ["", `${webOracle.registry}  the registry of request specs`],
    ...running.examples.map(({ name, key }) => ["", `${key}  devnet/specs/${name}.json`]),
    ["chain", `${running.chainUrl}  chain id 42, a block a second`],
    ["operator", `${operatorUrl(running.settings)}  sends from ${OPERATOR.address}`],
    ...running.providers.map(({ process, url, address }) => [
      process.name,
      `${url}  signs as ${address}  pid ${process.pid}`,
    ]),
    ["values", running.settings.isLive ? "from the real exchanges" : "SIMULATED: no price and no other value is real"],
  ];
  return [
    ...rows.map(([name = "", value = ""]) => `  ${bold(name.padEnd(12))}${value}`),
    ...commands(running).flatMap(({ title, command }) => ["", `  ${dim(`# ${title}`)}`, ...indent(command)]),
    "",
    "  Ctrl-C ends everything.",
  ].join("\n");
}

/** The same for programs, as `devnet.json` has it. */
export function addresses({ settings, chainUrl, deployed, queryPrice, providers, examples }: Running) {
  return {
    chain: chainUrl,
    operator: { url: operatorUrl(settings), address: OPERATOR.address },
    dataset: deployed.dataset.address,
    webOracle: { ...deployed.webOracle, examples },
    queryPrice: String(queryPrice),
    consumer: deployed.consumer,
    providers: providers.map(({ process, url, address, command }) => ({ url, address, pid: process.pid, command })),
  };
}

/** Commands that work as they stand, in the repository's folder. */
export function commands({ settings, chainUrl, deployed, queryPrice, examples, folder }: Running) {
  const { address } = deployed.dataset;
  const post = (dataset: string, key: string) =>
    `curl -X POST ${operatorUrl(settings)}/data/request -H 'content-type: application/json' -H 'prefer: wait=10' -d '${JSON.stringify({ network_id: 42, dataset, key, broadcast: true })}'`;
  const rpc = `--rpc-url ${chainUrl}`;
  return [
    {
      title: "ask for a fresh value, and wait until it is mined",
      command: post(address, "SPOTPX/ETH-USD"),
    },
    { title: "the price of a query, in wei", command: `npx cast call ${address} "queryPrice()(uint256)" ${rpc}` },
    {
      title: "read the value: output scaled 1e18, updatedAt, status (1 is OK)",
      command: `npx cast call ${address} "query(bytes)(uint256,uint256,uint8)" ${spotPriceKey("ETH-USD")} --value ${queryPrice} --from ${CALLER.address} ${rpc}`,
    },
    ...examples.slice(0, 1).flatMap(({ dataset, key, keyHex }) => [
      {
        title: "the same for a value of the web",
        command: post(dataset, key),
      },
      {
        title: "read it: hundredths of a kelvin",
        command: `npx cast call ${dataset} "query(bytes)(uint256,uint256,uint8)" ${keyHex} --value ${queryPrice} --from ${CALLER.address} ${rpc}`,
      },
      {
        title: "publish a spec: this one, or your own",
        command: `npm run -s web-oracle -- ${publishArguments("devnet/specs/temperature.json", chainUrl, folder).join(" ")}`,
      },
    ]),
    {
      title: "let the example contract pay for a value, then look at it",
      command: `npx cast send ${deployed.consumer} "refresh()" --unlocked --from ${CALLER.address} ${rpc}\nnpx cast call ${deployed.consumer} "rate()(uint256)" ${rpc}`,
    },
  ];
}

const indent = (text: string) => text.split("\n").map((line) => `  ${line}`);
