import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildSpec, variable } from "./build-spec.js";

const HOST = "changing.attack.example";
const KEYS = 6;

/**
 * Makes a provider decide rounds whose value changes with every reading, kills it while it decides more, restarts it,
 * and asks for the same rounds again.
 *
 * @param between Does something to the dead provider: it is given the path of the database and the number of the life
 *   that has ended, and returns options for the next one.
 */
export async function killAndAsk(network, tally, lives, between) {
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
