import { existsSync } from "node:fs";
import { join } from "node:path";
import { styleText } from "node:util";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { formatEther } from "viem";
import { CALLER } from "./accounts.js";
import { publishArguments } from "./publish-example-specs.js";
import type { RunningDevnet } from "./running-devnet.js";

/** Prints the addresses, and commands to paste. */
export function printReadySummary(running: RunningDevnet, queryPrice: bigint): void {
  const isTerminal = process.stdout.isTTY === true && !process.env.NO_COLOR;
  console.log(
    `${process.uptime().toFixed(1).padStart(5)} s  The devnet is ready.\n\n${summary(running, queryPrice, isTerminal)}\n`,
  );
}

const HAS_DOCUMENTS = existsSync(join(ROOT, "docs/dist/index.html"));

/** The operator alone is started again: the chain stays. */
const howToServeDocuments = (operator: RunningDevnet["operators"][number] | undefined) =>
  `: run "npm run docs" and "kill ${operator?.pid}", then the command that is printed here`;

type SummaryRow = readonly [name: string, value: string];

function summary(running: RunningDevnet, queryPrice: bigint, isTerminal: boolean): string {
  const { options, chainUrl, operatorUrl, deployed, providers, operators, examples } = running;
  const { dataset, webOracle, consumer, lens, directory } = deployed;
  const price = `${queryPrice} wei (${formatEther(queryPrice)} ether)`;
  const sections: [title: string, rows: SummaryRow[]][] = [
    [
      options.isLive ? "Values come from the real exchanges" : "All values are SIMULATED: no price here is real",
      [
        ["page", `${operatorUrl}/  every value, and a form to request updates`],
        ["guide", `${operatorUrl}/guide/  the documentation${HAS_DOCUMENTS ? "" : howToServeDocuments(operators[0])}`],
        ...Object.entries(options.redirects).map(
          ([origin, url]): SummaryRow => ["redirected", `${origin}  is asked at ${url}`],
        ),
      ],
    ],
    [
      `Contracts on chain 42, one block per second: ${chainUrl}`,
      [
        [dataset.name, `${dataset.address}  ${dataset.kind} of ${dataset.keys.length} spot prices, ${price} a query`],
        ["web oracle", `${webOracle.numbers}  numbers`],
        ["", `${webOracle.words}  booleans, 32-byte values and short texts`],
        ["", `${webOracle.registry}  registry of request specs`],
        ["lens", `${lens}  free verified reads (ERC-3668)`],
        ["directory", `${directory}  where data providers announce their URLs`],
        ["consumer", `${consumer}  test/examples/SpotPriceConsumer.sol`],
      ],
    ],
    [
      "An account for your wallet: its key is public, so never use it on another network",
      [
        ["address", `${CALLER.address}  with Ether on this chain`],
        ["private key", CALLER.privateKey],
      ],
    ],
    ["Web Oracle keys of the specs in devnet/specs", examples.map(({ name, key }) => [name, key])],
    [
      `Services: more than two thirds of the ${providers.length} providers must sign`,
      [
        ...operators.map(
          ({ name, url, address, pid }): SummaryRow => [name, `${url}  sends from ${address}  pid ${pid}`],
        ),
        ...providers.map(
          ({ name, url, address, pid }): SummaryRow => [name, `${url}  signs as ${address}  pid ${pid}`],
        ),
      ],
    ],
  ];
  const style = (format: "bold" | "dim", text: string) => (isTerminal ? styleText(format, text) : text);
  return [
    ...sections
      .filter(([, rows]) => rows.length > 0)
      .flatMap(([title, rows]) => [
        `  ${style("bold", title)}`,
        ...rows.map(([name, value]) => `    ${name.padEnd(12)}${value}`),
        "",
      ]),
    `  ${style("bold", "Commands to paste")}`,
    ...commands(running, queryPrice).flatMap(({ title, command }) => [
      `  ${style("dim", `# ${title}`)}`,
      ...command.split("\n").map((line) => `  ${line}`),
      "",
    ]),
    "  Ctrl-C stops everything. The next start begins with a new chain.",
  ].join("\n");
}

/** Returns commands that work unchanged in the repository's folder. */
function commands(running: RunningDevnet, queryPrice: bigint) {
  const { chainUrl, operatorUrl, deployed, examples } = running;
  const { address } = deployed.dataset;
  const post = (dataset: string, key: string) =>
    `curl -X POST ${operatorUrl}/data/request -H 'content-type: application/json' -H 'prefer: wait=10' -d '${JSON.stringify({ network_id: 42, dataset, key, broadcast: true })}'`;
  const rpc = `--rpc-url ${chainUrl}`;
  const query = (dataset: string, keyHex: string) =>
    `npx cast call ${dataset} "query(bytes)(uint256,uint256,uint8)" ${keyHex} --value ${queryPrice} --from ${CALLER.address} ${rpc}`;
  return [
    { title: "Request a fresh value and wait until it is mined", command: post(address, "SPOTPX/ETH-USD") },
    { title: "Read the price of a query, in wei", command: `npx cast call ${address} "queryPrice()(uint256)" ${rpc}` },
    {
      title: "Read the value without paying: output (scaled by 1e18), updatedAt, status (1 is OK)",
      command: query(address, spotPriceKey("ETH-USD")),
    },
    ...examples.slice(0, 1).flatMap(({ dataset, key, keyHex }) => [
      { title: "Request a fresh Web Oracle value", command: post(dataset, key) },
      { title: "Read it: kelvin × 10^2, updatedAt, status", command: query(dataset, keyHex) },
      {
        title: "Publish a request spec: this one, or your own",
        command: `npm run -s provider -- ${publishArguments(running, ["docs/cookbook/reference-rate.json"]).join(" ")}`,
      },
    ]),
    {
      title: "Let the example contract pay for a value, then read what it stored",
      command: `npx cast send ${deployed.consumer} "refresh()" --unlocked --from ${CALLER.address} ${rpc}\nnpx cast call ${deployed.consumer} "price()(uint256)" ${rpc}`,
    },
  ];
}
