// Compares the gas of updates, batches and queries with that of other oracles, and writes the tables to docs/Gas.md and
// docs/Comparison.md. With --check, it only checks that they are up to date. Our numbers are those in snapshots/,
// measured by `npm run gas`; those of the other systems are in peers.json.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { ROOT } from "@dataset-oracle/tools/repository-root";

const USAGE = `Usage: npm run bench:gas [-- --check]

Compares the gas of updates, batches and queries with that of other oracles, and writes the tables to docs/Gas.md and
docs/Comparison.md. Our numbers are those in snapshots/, measured by npm run gas. The other systems were measured elsewhere.

  --check   write nothing; fail if the tables do not match the snapshots
  --help    show this text

Examples
  npm run bench:gas
  npm run bench:gas -- --check`;

const isCheck = readArguments(USAGE, { check: { type: "boolean" } }).values.check === true;

const read = (path) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
const peers = read("bench/peers.json");
const snapshot = (file) => (name) => {
  const gas = read(`snapshots/${file}.json`)[name];
  if (gas === undefined) throw new Error(`snapshots/${file}.json has no "${name}".`);
  return Number(gas);
};
const GROUPS = ["update", "batch", "query", "consumer-update", "accuse", "adapters"];
const [update, batch, query, consumerUpdate, accuse, adapter] = GROUPS.map(snapshot);

const SIGNERS = ["3", "4", "9", "21"];
const COMMITTEES = { 3: 4, 4: 5, 9: 13, 21: 31 };

const number = (value) => (value === undefined ? "" : value.toLocaleString("en"));

const CONSUMER_SIGNERS = ["3", "4", "9"];
const consumerUpdateGas = (name) => `**${number(consumerUpdate(name))}**`;
const verified = (k, price) => consumerUpdateGas(`verifySpotPrice, ${price}, ${k} of ${COMMITTEES[k]} signers`);

const updates = [
  ["system", ...SIGNERS.map((k) => `${k} signers`), "trust"],
  [
    [
      "**this**",
      ...SIGNERS.map((k) => `**${number(update(`update, ${k} of ${COMMITTEES[k]} signers`))}**`),
      "per-provider values, median on chain",
    ],
    [
      "**this**, first update of a key",
      "",
      `**${number(update("first update of a key, 4 of 5 signers"))}**`,
      "",
      "",
      "as above",
    ],
    ...peers.update.map((peer) => [peer.system, ...SIGNERS.map((k) => number(peer[k])), peer.trust]),
  ],
];

const batchRow = (signers, keys) => {
  const gas = batch(`batch of ${keys}, ${signers} signers`);
  return [`**this**, ${signers}, ${keys} keys`, `**${number(gas)}**`, `**${number(Math.round(gas / keys))}**`];
};
const batches = [
  ["system", "gas", "per key"],
  [
    batchRow("4 of 5", 10),
    batchRow("4 of 5", 100),
    batchRow("9 of 13", 100),
    ...peers.batch.map(({ system, gas }) => [system, number(gas), number(Math.round(gas / 10))]),
  ],
];

const queries = [
  ["system", "gas"],
  [
    ["**this**, price 0", `**${number(query("query, price 0"))}**`],
    ["**this**, paid (6,700 of it to move the Ether)", `**${number(query("query, paid"))}**`],
    ["**this**, price 0, `querySpotPriceWithExpiry`", `**${number(query("querySpotPriceWithExpiry, price 0"))}**`],
    ["**this**, paid, `querySpotPriceWithExpiry`", `**${number(query("querySpotPriceWithExpiry, paid"))}**`],
    ...peers.query.map(({ system, gas }) => [system, number(gas)]),
  ],
];

const consumerUpdates = [
  ["transaction", ...CONSUMER_SIGNERS.map((k) => `${k} signers`)],
  [
    [
      "**this**, `updateAndQuerySpotPrice`, paid",
      "",
      consumerUpdateGas("updateAndQuerySpotPrice, paid, 4 of 5 signers"),
      "",
    ],
    [
      "**this**, the same, if another sender stored the round first",
      "",
      consumerUpdateGas("updateAndQuerySpotPrice, paid, another sender was faster"),
      "",
    ],
    ["**this**, `verifySpotPrice`, paid", ...CONSUMER_SIGNERS.map((k) => verified(k, "paid"))],
    ["**this**, `verifySpotPrice`, price 0", ...CONSUMER_SIGNERS.map((k) => verified(k, "price 0"))],
    ...peers["consumer-update"].map((peer) => [peer.system, ...CONSUMER_SIGNERS.map((k) => number(peer[k]))]),
  ],
];

const accusations = [
  ["members", "gas"],
  [5, 13, 31].map((members) => [String(members), `**${number(accuse(`accusation, ${members} members`))}**`]),
];

const ADAPTER_READS = [
  ["Chainlink, `latestRoundData`", "Chainlink, latestRoundData"],
  ["Pyth, `getPriceNoOlderThan`", "Pyth, getPriceNoOlderThan"],
  ["ERC-7726, `getQuote`", "ERC-7726, getQuote"],
  ["ERC-7726, `getQuote`, cross rate", "ERC-7726, getQuote, cross rate"],
];
const adapters = [
  ["read", "price 0", "subscribed"],
  ADAPTER_READS.map(([label, name]) => [
    label,
    ...["price 0", "subscribed"].map((terms) => number(adapter(`${name}, ${terms}`))),
  ]),
];

const findPeer = (rows, system) => rows.find((row) => row.system === system);
const comparedWith = (name, update, query) => [
  name,
  number(findPeer(peers.update, update)?.[9]),
  number(findPeer(peers.query, query)?.gas),
];
const comparison = [
  ["", "update, 9 signers", "added by one query, direct"],
  [
    [
      "this",
      number(update("update, 9 of 13 signers")),
      `${number(query("query, price 0"))} free, ${number(query("query, paid"))} paid`,
    ],
    comparedWith("Scribe", "Scribe, poke", "Scribe"),
    comparedWith("Maker Median", "Maker Median"),
    comparedWith("RedStone", "RedStone multi-feed, push", "RedStone, direct"),
    comparedWith("Pyth", "Pyth", "Pyth"),
    comparedWith("Chainlink", undefined, "Chainlink, direct"),
  ],
];

const DOCUMENTS = {
  "docs/Gas.md": { updates, batches, queries, consumerUpdates, accusations, adapters },
  "docs/Comparison.md": { comparison },
};
for (const [name, [head, rows]] of Object.values(DOCUMENTS).flatMap(Object.entries)) {
  const plain = rows.map((row) => row.map((cell) => cell.replaceAll("*", "")));
  console.log(`${name}\n\n${table(head, plain)}\n`);
}
console.log(`Peers: measured ${peers.measured}.`);

for (const [file, tables] of Object.entries(DOCUMENTS)) {
  const path = join(ROOT, file);
  const before = readFileSync(path, "utf8");
  const after = Object.entries(tables).reduce((page, [name, [head, rows]]) => {
    const marked = new RegExp(`(<!-- ${name} -->\n)[^]*?<!-- end -->`);
    if (!marked.test(page)) throw new Error(`${file} has no <!-- ${name} --> with an <!-- end -->.`);
    return page.replace(marked, (_, start) => `${start}\n${table(head, rows)}\n\n<!-- end -->`);
  }, before);
  if (!isCheck) {
    writeFileSync(path, after);
  } else if (after !== before) {
    console.error(`${file} does not match the snapshots. Run "npm run bench:gas" and commit the result.`);
    process.exitCode = 1;
  }
}

function table(head, rows) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
