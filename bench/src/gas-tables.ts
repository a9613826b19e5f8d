// Compares the gas of updates, batches and queries with that of other oracles, and writes the tables to docs/Gas.md. With
// --check, it only checks that they are up to date. Our numbers are those in snapshots/, measured by `npm run gas` and
// `npm run gas:amsterdam`; those of the other systems are in peers.json.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { ROOT } from "@dataset-oracle/tools/repository-root";

const USAGE = `Usage: npm run bench:gas [-- --check]

Compares the gas of updates, batches and queries with that of other oracles, and writes the tables to docs/Gas.md. Our
numbers are those in snapshots/, measured by npm run gas and npm run gas:amsterdam. The other systems were measured
elsewhere.

  --check   write nothing; fail if the tables do not match the snapshots
  --help    show this text

Examples
  npm run bench:gas
  npm run bench:gas -- --check`;

/** The cells of the first line, and of the others. */
type Table = readonly [head: readonly string[], rows: readonly (readonly string[])[]];

/** Gas, or bytes of calldata, by the number of signers. */
type BySigners = { readonly [signers in 3 | 4 | 9 | 21]?: number };

/** A system, and the rules of its figures: gas that was measured, or bytes that Amsterdam's charge for. */
interface Peer {
  readonly system: string;
  readonly rules: "Prague" | "Amsterdam";
}

/** What bench/peers.json has. */
interface Peers {
  /** When and how the gas was measured. */
  readonly measured: string;
  /** The same of what was measured under Amsterdam's rules. */
  readonly measuredOnGeth: string;
  readonly update: readonly (BySigners & Peer)[];
  readonly "update-amsterdam": readonly (BySigners & Peer)[];
  readonly "update-bytes": readonly (BySigners & Peer)[];
  readonly batch: readonly (Peer & { readonly gas: number })[];
  readonly query: readonly (Peer & { readonly gas: number })[];
  readonly "consumer-update": readonly (BySigners & Peer)[];
  readonly "consumer-update-amsterdam": readonly (BySigners & Peer)[];
  readonly "consumer-update-bytes": readonly (BySigners & Peer)[];
}

const isCheck = readArguments(USAGE, { check: { type: "boolean" } }).values.check === true;

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
const peers: Peers = read("bench/peers.json");
const snapshot = (file: string) => (name: string) => {
  const gas = read(`snapshots/${file}.json`)[name];
  if (gas === undefined) throw new Error(`snapshots/${file}.json has no "${name}".`);
  return Number(gas);
};
const update = snapshot("update");
const batch = snapshot("batch");
const query = snapshot("query");
const consumerUpdate = snapshot("consumer-update");
const accuse = snapshot("accuse");
const adapter = snapshot("adapters");

const measuredOnGeth: Record<string, { gas: number; bytes?: number; codeBytes?: number }> =
  read("snapshots/amsterdam.json");
const amsterdam = (name: string) => {
  const row = measuredOnGeth[name];
  if (row === undefined) throw new Error(`snapshots/amsterdam.json has no "${name}".`);
  return row;
};
/** The least that Amsterdam's rules charge for a call with so many bytes of calldata. */
const floorOf = (bytes: number | undefined) => (bytes === undefined ? undefined : 15_000 + 64 * bytes);

const SIGNERS = [3, 4, 9, 21] as const;
const COMMITTEES = { 3: 4, 4: 5, 9: 13, 21: 31 };

const number = (value: number | undefined) => (value === undefined ? "" : value.toLocaleString("en"));

const bold = (value: number) => `**${number(value)}**`;
/** The numbers of columns in one cell; a dash for one that is missing. */
const inOneCell = (values: readonly (number | undefined)[]) =>
  values.map((value) => (value === undefined ? "-" : number(value))).join(" / ");

const CONSUMER_SIGNERS = [3, 4, 9] as const;
type Signers = keyof typeof COMMITTEES;

/** A row of ours under Amsterdam's rules: the gas by the number of signers, then the bytes. */
const amsterdamRow = (label: string, columns: readonly Signers[], nameOf: (k: Signers) => string | null) => {
  const rows = columns.map((k) => {
    const name = nameOf(k);
    return name === null ? undefined : amsterdam(name);
  });
  const bytes = rows.map((row) => row?.bytes);
  return [label, ...rows.map((row) => (row === undefined ? "" : bold(row.gas))), inOneCell(bytes)];
};
/** A row of a peer that was measured on geth. */
const peerRow = (columns: readonly Signers[], bytes: readonly (BySigners & Peer)[]) => (peer: BySigners & Peer) => [
  peer.system,
  ...columns.map((k) => number(peer[k])),
  inOneCell(columns.map((k) => bytes.find(({ system }) => system === peer.system)?.[k])),
];
const only =
  (signers: Signers, name: string) =>
  (k: Signers): string | null =>
    k === signers ? name : null;

const updatesAmsterdam: Table = [
  ["system", ...SIGNERS.map((k) => `${k} signers`), "bytes of calldata"],
  [
    amsterdamRow("**this**", SIGNERS, (k) => `update, ${k} of ${COMMITTEES[k]} signers`),
    amsterdamRow(
      "**this**, first update of a key",
      SIGNERS,
      (k) => `first update of a key, ${k} of ${COMMITTEES[k]} signers`,
    ),
    ...peers["update-amsterdam"].map(peerRow(SIGNERS, peers["update-bytes"])),
  ],
];

const verifiedFresh = (label: string, price: string) =>
  amsterdamRow(label, CONSUMER_SIGNERS, (k) => `verifySpotPrice, ${price}, ${k} of ${COMMITTEES[k]} signers`);
const consumerUpdatesAmsterdam: Table = [
  ["transaction", ...CONSUMER_SIGNERS.map((k) => `${k} signers`), "bytes of calldata"],
  [
    amsterdamRow(
      "**this**, `updateAndQuerySpotPrice`, paid",
      CONSUMER_SIGNERS,
      only(4, "updateAndQuerySpotPrice, paid, 4 of 5 signers"),
    ),
    amsterdamRow(
      "**this**, the same, if another sender stored the round first",
      CONSUMER_SIGNERS,
      only(4, "updateAndQuerySpotPrice, paid, another sender was faster"),
    ),
    verifiedFresh("**this**, `verifySpotPrice`, paid", "paid"),
    verifiedFresh("**this**, `verifySpotPrice`, price 0", "price 0"),
    ...peers["consumer-update-amsterdam"].map(peerRow(CONSUMER_SIGNERS, peers["consumer-update-bytes"])),
  ],
];

const sharings: Table = [
  ["members", "their accounts exist", "they do not"],
  [4, 13].map((members) => [
    String(members),
    bold(amsterdam(`sharing, ${members} members`).gas),
    bold(amsterdam(`sharing, ${members} members whose accounts do not exist`).gas),
  ]),
];

const deployments: Table = [
  ["part", "gas", "bytes of code"],
  [
    "MedianDataset",
    "MajorityDataset",
    "VerifiedLens",
    "CommitteeDirectory",
    "WebOracleRegistry",
    "ChainlinkAdapter",
    "PythAdapter",
    "QuoteAdapter",
    "MorphoAdapter",
  ].map((part) => {
    const { gas, codeBytes } = amsterdam(`deployment, ${part}`);
    return [`\`${part}\``, bold(gas), number(codeBytes)];
  }),
];
const consumerUpdateGas = (name: string) => `**${number(consumerUpdate(name))}**`;
const verified = (k: keyof typeof COMMITTEES, price: string) =>
  consumerUpdateGas(`verifySpotPrice, ${price}, ${k} of ${COMMITTEES[k]} signers`);

const updates: Table = [
  ["system", ...SIGNERS.map((k) => `${k} signers`)],
  [
    ["**this**", ...SIGNERS.map((k) => `**${number(update(`update, ${k} of ${COMMITTEES[k]} signers`))}**`)],
    ["**this**, first update of a key", "", `**${number(update("first update of a key, 4 of 5 signers"))}**`, "", ""],
    ...peers.update.map((peer) => [peer.system, ...SIGNERS.map((k) => number(peer[k]))]),
  ],
];

const floors: Table = [
  ["update", "gas", "bytes of calldata"],
  [
    "69 of 103 signers",
    "21 of 31 signers, values of 16 bytes",
    "13 of 19 signers, values of 23 bytes",
    "9 of 13 signers, values of 12 bytes, a key of 256",
  ].map((name) => {
    const { gas, bytes } = amsterdam(`update, ${name}`);
    if (gas !== floorOf(bytes)) throw new Error(`The bytes of "${name}" do not decide what it costs.`);
    return [name, bold(gas), number(bytes)];
  }),
];

const batchRow = (signers: string, keys: number) => {
  const name = `batch of ${keys}, ${signers} signers`;
  const [today, before] = [amsterdam(name), batch(name)];
  return [
    ...[`**this**, ${signers}, ${keys} keys`, bold(today.gas), bold(Math.round(today.gas / keys))],
    ...[number(today.bytes), bold(before), bold(Math.round(before / keys))],
  ];
};
const batches: Table = [
  ["system", "Amsterdam", "per key", "bytes of calldata", "Prague", "per key"],
  [
    batchRow("4 of 5", 10),
    batchRow("4 of 5", 100),
    batchRow("9 of 13", 100),
    ...peers.batch.map(({ system, gas }) => [system, "", "", "", number(gas), number(Math.round(gas / 10))]),
  ],
];

const queryRow = (label: string, name: string) => [label, bold(amsterdam(name).gas), bold(query(name))];
const queries: Table = [
  ["system", "Amsterdam", "Prague"],
  [
    queryRow("**this**, price 0", "query, price 0"),
    queryRow("**this**, paid", "query, paid"),
    queryRow("**this**, price 0, `querySpotPriceWithExpiry`", "querySpotPriceWithExpiry, price 0"),
    queryRow("**this**, paid, `querySpotPriceWithExpiry`", "querySpotPriceWithExpiry, paid"),
    ...peers.query.map(({ system, gas }) => [system, "", number(gas)]),
  ],
];

const consumerUpdates: Table = [
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

const accusations: Table = [
  ["members", "Amsterdam", "bytes of calldata", "Prague"],
  [5, 13, 31].map((members) => {
    const name = `accusation, ${members} members`;
    const { gas, bytes } = amsterdam(name);
    return [String(members), bold(gas), number(bytes), bold(accuse(name))];
  }),
];

const ADAPTER_READS: readonly (readonly [label: string, name: string])[] = [
  ["Chainlink, `latestRoundData`", "Chainlink, latestRoundData"],
  ["Pyth, `getPriceNoOlderThan`", "Pyth, getPriceNoOlderThan"],
  ["ERC-7726, `getQuote`", "ERC-7726, getQuote"],
  ["ERC-7726, `getQuote`, cross rate", "ERC-7726, getQuote, cross rate"],
];
const adapters: Table = [
  ["read", "price 0", "subscribed"],
  ADAPTER_READS.map(([label, name]) => [
    label,
    ...["price 0", "subscribed"].map((terms) => number(adapter(`${name}, ${terms}`))),
  ]),
];

const DOCUMENTS: Record<string, Record<string, Table>> = {
  "docs/Gas.md": {
    ...{ updatesAmsterdam, floors, updates, batches, queries, consumerUpdatesAmsterdam, consumerUpdates },
    ...{ accusations, sharings, adapters, deployments },
  },
};
for (const [name, [head, rows]] of Object.values(DOCUMENTS).flatMap((tables) => Object.entries(tables))) {
  const plain = rows.map((row) => row.map((cell) => cell.replaceAll("*", "")));
  console.log(`${name}\n\n${table(head, plain)}\n`);
}
console.log(`Peers: measured ${peers.measured}; ${peers.measuredOnGeth}.`);

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

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(head), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(line)].join("\n");
}
