import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { deriveAccount, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { dataRequestBody } from "../data-request-body.js";
import { postJson } from "../http-client.js";
import { minedPerSecond } from "../mined-per-second.js";
import { Processes } from "../processes.js";
import { readCpuSeconds } from "../read-cpu-metric.js";
import { upperMedian } from "../upper-median.js";
import { MinedUpdates } from "./mined-updates.js";

const DATASETS = 8;
const KEYS = 25;
const BEAT_SECONDS = 2;
/** The age at which feeds are due: the same for one operator and for nodes, however long their updates take. */
const MIN_INTERVAL_SECONDS = 8;
const HEARTBEAT_SECONDS = 10;
/** How far the timestamp of a round lies behind the time at which its reports are requested. */
const BEHIND_SECONDS = 2;
const WARM_UP_TIMEOUT_MS = 180_000;
/** How often each feed is updated before the measurement begins. */
const WARM_UP_UPDATES = 3;

const AT_ONCE = 64;
/** How often the broadcasts of all keys are measured, after a first time that does not count. */
const BROADCAST_ROUNDS = 5;

/** The printed figures, and bounds of their ratios, which hold on two cores that all processes share. */
const FIGURES = [
  { title: "updates stored per second", digits: 1, of: ({ updates }) => updates, least: 0.8 },
  { title: "transactions per round", digits: 3, of: ({ transactionsPerRound }) => transactionsPerRound },
  { title: "CPU time of all operators per update (ms)", digits: 2, of: ({ operatorMs }) => operatorMs, most: 5 },
  { title: "CPU time of all providers per update (ms)", digits: 2, of: ({ providerMs }) => providerMs },
  { title: "broadcasts per second, asked of one", digits: 0, of: ({ toOne }) => toOne, least: 0.2 },
  {
    title: "broadcasts per second, spread over all",
    digits: 0,
    of: ({ spread, toOne }) => spread ?? toOne,
    least: 0.2,
  },
];
/** The share of the nodes' transactions that may be needless. */
const MAX_NEEDLESS = 0.02;

/**
 * Has one operator, and then four nodes, each with a sender of its own, keep the same feeds fresh and serve broadcasts.
 * Prints how fast they are and what that costs.
 *
 * @param seconds How long the feeds are measured.
 * @returns One sentence for each figure that misses its bound.
 */
export async function compareNodesWithOneOperator({ seconds }) {
  const processes = new Processes();
  const end = () => processes.close().finally(() => process.exit(1));
  const signals = ["SIGINT", "SIGTERM"];
  for (const signal of signals) process.once(signal, end);
  try {
    const network = await processes.startNetwork({ keys: KEYS, datasets: DATASETS });
    const mined = new MinedUpdates(network, MIN_INTERVAL_SECONDS - BEHIND_SECONDS);
    const groups = { operator: [{ name: "operator", senders: [1] }], nodes: await nodeOptions() };
    const measured = {};
    for (const [name, operators] of Object.entries(groups)) {
      const start = (settings) => startAll(processes, network, operators, settings);
      const fed = await start({ feeds: network.datasets.map((dataset) => feedOf(dataset, network.keys)) });
      const feeds = await measureFeeds({ mined, operators: fed, providers: network.providers }, seconds);
      await closeAll(fed);
      const asked = await start({});
      measured[name] = { ...feeds, ...(await measureBroadcasts(network, asked)) };
      await closeAll(asked);
      console.error(`Measured: ${name}.`);
    }
    print(measured, seconds);
    return missedBounds(measured);
  } finally {
    for (const signal of signals) process.removeListener(signal, end);
    await processes.close();
  }
}

/** Returns the options of each node, which list all nodes as its peers. */
async function nodeOptions() {
  const ports = await Promise.all(PROVIDERS.map(() => freePort()));
  const peers = PROVIDERS.map(({ address: provider }, i) => {
    return { provider, url: `http://127.0.0.1:${ports[i]}`, submitter: deriveAccount(1 + i).address };
  });
  const network = { peers, beatSeconds: BEAT_SECONDS };
  return ports.map((port, i) => ({ name: `node-${i + 1}`, senders: [1 + i], port, network }));
}

const feedOf = (dataset, keys) => ({
  ...{ dataset, keys, deviationBps: 1_000_000 },
  ...{ heartbeatSeconds: HEARTBEAT_SECONDS, minIntervalSeconds: MIN_INTERVAL_SECONDS },
});

const startAll = (processes, network, operators, settings) =>
  Promise.all(
    operators.map((options) => {
      return processes.startOperator(network, { ...options, network: { ...options.network, ...settings } });
    }),
  );

const closeAll = (operators) => Promise.all(operators.map((operator) => operator.close()));

/** Measures how many updates are stored per second, and the CPU time of each, in ms. */
async function measureFeeds({ mined, operators, providers }, seconds) {
  await waitFor(mined, ({ updates }, first) => {
    return mined.storedKeyCount === DATASETS * KEYS && updates - first.updates >= WARM_UP_UPDATES * DATASETS * KEYS;
  });
  const usage = async () => ({
    at: performance.now(),
    operators: await cpuOf(operators),
    providers: await cpuOf(providers),
    ...(await mined.read()),
  });
  const from = await usage();
  await sleep(seconds * 1_000);
  const to = await usage();
  const since = (name) => to[name] - from[name];
  const updates = since("updates");
  const needed = since("neededTransactions");
  const needless = since("needlessTransactions");
  return {
    updates: (updates * 1_000) / since("at"),
    neededTransactions: needed,
    needlessTransactions: needless,
    transactionsPerRound: (needed + needless) / needed,
    operatorMs: (since("operators") * 1_000) / updates,
    providerMs: (since("providers") * 1_000) / updates,
  };
}

async function waitFor(mined, isDone) {
  const first = await mined.read();
  const giveUpAt = Date.now() + WARM_UP_TIMEOUT_MS;
  while (!isDone(await mined.read(), first)) {
    if (Date.now() > giveUpAt) {
      const stored = `${mined.storedKeyCount} of ${DATASETS * KEYS} feeds were stored`;
      throw new Error(`The feeds were not all kept fresh within ${WARM_UP_TIMEOUT_MS / 1_000} s: ${stored}.`);
    }
    await sleep(500);
  }
}

async function cpuOf(all) {
  const times = await Promise.all(all.map(({ metricsUrl }) => readCpuSeconds(metricsUrl)));
  return times.reduce((sum, time) => sum + time);
}

/** Measures how many broadcasts a second are mined: all asked of one operator, and spread over all operators. */
async function measureBroadcasts(network, operators) {
  const points = network.datasets.flatMap((dataset) => network.keys.map((key) => ({ dataset, key })));
  const measure = (asked) =>
    minedPerSecond({ ...network, dataset: network.datasets }, points.length, AT_ONCE, async (i) => {
      const { dataset, key } = points[i];
      const { requestUrl } = asked[i % asked.length];
      return (await postJson(requestUrl, dataRequestBody({ dataset }, key, true))).transaction_hash;
    });
  const [toOne, spread] = [[], []];
  for (let round = 0; round <= BROADCAST_ROUNDS; round++) {
    const rates = [await measure(operators.slice(0, 1)), operators.length > 1 ? await measure(operators) : null];
    if (round === 0) continue;
    toOne.push(rates[0]);
    if (rates[1] !== null) spread.push(rates[1]);
  }
  return { toOne: upperMedian(toOne), spread: spread.length > 0 ? upperMedian(spread) : null };
}

function print({ operator, nodes }, seconds) {
  console.log(
    `\n${DATASETS} datasets of ${KEYS} feeds, due every ${MIN_INTERVAL_SECONDS - BEHIND_SECONDS} s or so, on a chain with one block per second, ` +
      `for ${seconds} s each. All processes share this machine. Its load is ${loadavg()[0].toFixed(1)}.\n`,
  );
  console.log("| | one operator | four nodes | ratio |\n|---|---|---|---|");
  for (const { title, digits, of } of FIGURES) {
    const [one, four] = [of(operator), of(nodes)];
    const cells = [one.toFixed(digits), four.toFixed(digits), (four / one).toFixed(2)];
    console.log(`| ${title} | ${cells.join(" | ")} |`);
  }
  console.log(
    `\nNeedless transactions: ${operator.needlessTransactions} by one operator, ${nodes.needlessTransactions} by four nodes.`,
  );
}

function missedBounds({ operator, nodes }) {
  const missed = [];
  for (const { title, of, least, most } of FIGURES) {
    if (least === undefined && most === undefined) continue;
    const ratio = of(nodes) / of(operator);
    // Written this way, so that NaN, the ratio of a run without updates, misses the bound too.
    if (ratio >= (least ?? 0) && ratio <= (most ?? Number.POSITIVE_INFINITY)) continue;
    missed.push(`Four nodes, ${title}: ${ratio.toFixed(2)} of one operator's (bound ${least ?? most}).`);
  }
  const { neededTransactions, needlessTransactions } = nodes;
  const all = neededTransactions + needlessTransactions;
  if (!(needlessTransactions <= MAX_NEEDLESS * all)) {
    missed.push(
      `Four nodes sent ${needlessTransactions} needless transactions of ${all} (bound ${MAX_NEEDLESS * 100} %).`,
    );
  }
  return missed;
}
