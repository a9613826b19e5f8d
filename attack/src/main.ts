// Attacks a network of real processes as an outsider would, and exits with 1 if an attack gets through.

import { readArguments } from "@dataset-oracle/tools/arguments";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { ATTACKS } from "./attacks.js";
import { Network } from "./network/network.js";
import { Results } from "./results.js";
import { runAttack } from "./run-attack.js";

const USAGE = `Usage: npm run attack [-- --only NAME --fast --seed N --build DIR --list]

Attacks a chain, four providers and an operator, each in its own process, over real connections, and prints for each
attack how often it was tried and how often it got through. It exits with 1 if anything got through. Nothing leaves this
machine: the providers' connections are redirected to servers on loopback. It needs openssl and takes a few minutes; the
attacks that count open files or use several addresses need Linux.

  --only NAME   one attack, by its name (--list shows the names); repeat it for several attacks
  --fast        only the attacks that take seconds
  --seed N      the seed of everything random (default: 1)
  --build DIR   the repository whose operator and provider are attacked, for example one without a guard (default: this one)
  --list        show each attack, and when it counts as having got through
  --help        show this text

Examples
  npm run attack
  npm run attack -- --only hostile-urls --seed 7`;

const { values } = readArguments(USAGE, {
  only: { type: "string", multiple: true },
  fast: { type: "boolean", default: false },
  seed: { type: "string", default: "1", range: [0, 2 ** 31 - 1] },
  build: { type: "string", default: ROOT },
  list: { type: "boolean", default: false },
});
if (values.list) {
  for (const { name, breach } of ATTACKS) console.log(`${name}\n  gets through when ${breach}`);
  process.exit(0);
}
const unknown = (values.only ?? []).filter((name) => ATTACKS.every((attack) => attack.name !== name));
if (unknown.length > 0) {
  console.error(`There is no attack ${unknown.join(" or ")}. --list shows the names.\n\n${USAGE}`);
  process.exit(2);
}
const attacks = ATTACKS.filter(({ name, isFast }) =>
  values.only === undefined ? !values.fast || isFast : values.only.includes(name),
);

const network = new Network(values.build);
const results = new Results();
try {
  results.say("Starting a chain, a market, a simulated internet, four providers and an operator");
  await network.start();
  for (const attack of attacks) await runAttack(attack, network, results, Number(values.seed));
  results.print();
  if (!results.isClean) process.exitCode = 1;
} finally {
  await network.close();
}
