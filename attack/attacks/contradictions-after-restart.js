import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildSpec, variable } from "../network/build-spec.js";

const HOST = "changing.attack.example";
const KEYS = 6;

/**
 * Makes a provider decide rounds whose value changes with every reading, kills it while it decides more, restarts it,
 * and asks for the same rounds again.
 *
 * @param between Does something to the dead provider: it is given the path of the database and the number of the life
 *   that has ended, and returns options for the next one.
 */
async function killAndAsk(network, tally, lives, between) {
  let value = 0;
  network.internet.serve(HOST, (_, response) => {
    value += 1;
    response.end(`{"value":${value}}`);
  });
  const source = { url: `https://${HOST}/{v}` };
  const [hash] = await network.publish(buildSpec("changing", source, { variables: [variable("v", "alphanumeric")] }));
  let provider = await network.startProvider();
  const { name } = provider;
  const told = new Map();
  const ask = async (round, v) => {
    const request = { dataset: network.numbers, key: network.key(hash, v), round };
    const { status, json } = await network.report(provider, request, { timeoutMs: 5_000, from: "127.0.0.1" });
    if (status !== 200) return;
    const id = `${round} ${v}`;
    const before = told.get(id);
    if (before !== undefined && before !== json.value)
      tally.breach(`life ${life}: ${id} was ${before} and is ${json.value}`);
    else told.set(id, json.value);
  };
  let life = 0;
  const names = Array.from({ length: KEYS }, (_, i) => `v${i}`);
  for (; life < lives; life++) {
    const now = Math.floor(Date.now() / 1_000);
    await Promise.all(names.map((v) => ask(now - 1, v)));
    if (told.size === 0) throw new Error("The provider decided nothing.");
    const unfinished = names.map((v) => ask(now, v));
    await sleep(10 * (life % 4));
    process.kill(provider.pid, "SIGKILL");
    await provider.exited;
    await Promise.all(unfinished);
    tally.attempt();
    const options = between(join(provider.folder, `${name}-database`), life);
    const next = await network.startProvider(0, {}, { name, readyPath: "/live", ...options }).catch(() => null);
    if (next === null) return void tally.note(`life ${life}: it refuses to start`);
    provider = next;
    await Promise.all([now, now - 1].flatMap((round) => names.map((v) => ask(round, v))));
  }
}

export const killedProviders = {
  name: "killed-providers",
  breach: "a provider that is killed while it signs says something else about the same round afterwards",
  isFast: false,
  run: (network, tally) => killAndAsk(network, tally, 4, () => ({})),
};

export const movedClocks = {
  name: "moved-clocks",
  breach: "a provider whose clock is moved between two lives says something else about the same round",
  isFast: false,
  run: (network, tally) =>
    killAndAsk(network, tally, 6, (_, life) => ({
      env: { ATTACK_CLOCK_OFFSET: String([-5, 5, -700, 3_600, -1, 0][life]) },
    })),
};

export const damagedDatabase = {
  name: "damaged-database",
  breach: "a provider whose database was damaged while it was dead decides a round again, with another value",
  isFast: false,
  async run(network, tally, random) {
    const damages = [flipBits, fillTailsWithOnes, fillTailsWithZeros, flipBits];
    for (const damage of damages) {
      await killAndAsk(network, tally, 1, (folder) => {
        damage(folder, random);
        return {};
      });
    }
  },
};

/** Returns the files that hold the records: the logs and tables of LevelDB, without empty ones. */
const recordsIn = (folder) =>
  readdirSync(folder).filter((file) => /\.(?:log|ldb)$/.test(file) && statSync(join(folder, file)).size > 0);

function change(folder, edit) {
  for (const file of recordsIn(folder)) {
    const path = join(folder, file);
    const descriptor = openSync(path, "r+");
    const bytes = Buffer.alloc(statSync(path).size);
    readSync(descriptor, bytes, 0, bytes.length, 0);
    edit(bytes);
    writeSync(descriptor, bytes, 0, bytes.length, 0);
    closeSync(descriptor);
  }
}

const flipBits = (folder, random) =>
  change(folder, (bytes) => {
    for (let at = random.below(200); at < bytes.length; at += 100 + random.below(200))
      bytes[at] ^= 1 << random.below(8);
  });

/** LevelDB takes zeros in a log for space that was never written, and reports no error. */
const fillTailsWithZeros = (folder) => change(folder, (bytes) => bytes.fill(0, Math.floor(bytes.length / 3)));

const fillTailsWithOnes = (folder) => change(folder, (bytes) => bytes.fill(0xff, Math.floor(bytes.length / 2)));
