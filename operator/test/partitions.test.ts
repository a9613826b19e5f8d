import { setTimeout as delay } from "node:timers/promises";
import { signReport } from "@dataset-oracle/protocol/report";
import { seededChoices } from "@dataset-oracle/tools/seeded-random";
import { type Address, numberToHex, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCancelling } from "./partitions/cancel-transactions.js";
import { startFlood } from "./partitions/flood.js";
import type { Member } from "./partitions/member.js";
import type { Measurement } from "./partitions/mined-updates.js";
import { Network } from "./partitions/network.js";
import { reasonWithoutNamespaces } from "./partitions/network-namespaces.js";
import { type CallFault, startFaultProxy } from "./support/fault-proxy.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

/** These tests run each member of a committee on a host of its own, and cut the hosts off from each other. */

/** `npm run partitions` runs the long form by `--mode long`. */
const isLongMode = process.env.MODE === "long";
const reason = reasonWithoutNamespaces();
if (reason !== null) console.warn(`The tests of partitions are skipped: ${reason}.`);

/** The number of rounds over which needless transactions are counted; one in 200 is allowed. */
const ROUNDS = 1_000;

describe.skipIf(reason !== null || isLongMode)("four nodes that are cut off from each other", () => {
  let network: Network;
  beforeAll(async () => {
    network = await Network.start({ size: 4, datasets: 1, heartbeatSeconds: 10, beatSeconds: 1 });
  });
  afterAll(() => network?.close());

  test("send nothing without a quorum, go on with one, and are whole again when they reach each other", async () => {
    network.split([0], [1, 2, 3]);
    // One may have begun before.
    const quorum = await sendersAfter(network, 2);
    expect(quorum.length).toBeGreaterThan(0);
    expect(quorum).not.toContain(network.members[0]?.submitter.address);

    network.split([0, 1], [2, 3]);
    expect(await sendersAfter(network, 0)).toEqual([]);

    network.heal();
    const { needed } = await network.run(2);
    expect(needed).toBeGreaterThanOrEqual(2);
  });
});

/** Returns who sends rounds that begin now or later, until each feed was updated a number of times, or for 6 s. */
async function sendersAfter(network: Network, times: number): Promise<readonly Address[]> {
  const now = Math.floor(Date.now() / 1000) - 1;
  await network.run(times);
  if (times === 0) await delay(6_000);
  await network.mined.read();
  return network.mined.transactions.flatMap(({ round, sender }) => (round >= now ? [sender] : []));
}

describe.skipIf(reason !== null || !isLongMode).each([
  { size: 4, blockSeconds: 1 },
  { size: 7, blockSeconds: 1 },
  { size: 4, blockSeconds: 2 },
])("$size nodes, blocks of $blockSeconds s", ({ size, blockSeconds }) => {
  let network: Network;
  const measured: { readonly title: string; readonly of: Measurement; readonly bound: number }[] = [];
  const all = Array.from({ length: size }, (_, i) => i);
  const faults = Math.floor((size - 1) / 3);
  let hasFailed = false;

  beforeAll(async () => {
    network = await Network.start({ size, datasets: 16, heartbeatSeconds: 16, beatSeconds: 2, blockSeconds });
    // The first rounds are sent while the last processes still start.
    await network.run(2);
  });
  afterAll(() => {
    if (network === undefined) return;
    console.log(table(size, measured, network));
    network.close(hasFailed);
  });

  const member = (i: number) => network.members[i] as Member;

  /** Measures a number of updates of each feed, and asserts the bound for so many members that fail. */
  async function assertBound(
    title: string,
    failing: number,
    times: number,
    during?: () => Promise<unknown>,
  ): Promise<Measurement> {
    const from = Date.now();
    const of = await network.run(times, during);
    const bound = network.maxAge(failing);
    measured.push({ title, of, bound });
    const seconds = ((Date.now() - from) / 1000).toFixed(0);
    console.log(
      `${title}: ${of.needed} rounds in ${seconds} s, ${of.needless} needless, oldest ${of.greatestAge} s (${bound} s)`,
    );
    hasFailed ||= of.greatestAge > bound || of.needed < times * network.datasets.length;
    expect.soft(of.greatestAge, `${title}: the age of a feed`).toBeLessThanOrEqual(bound);
    expect.soft(of.needed, `${title}: rounds`).toBeGreaterThanOrEqual(times * network.datasets.length);
    return of;
  }

  /** Asserts what is so when nobody fails: all take their turns again. */
  async function assertHealthy(title: string): Promise<void> {
    // With fewer rounds, the chance that one of seven nodes never leads would be one in twenty.
    const { sentBy } = await assertBound(title, 0, size === 4 ? 2 : 4);
    for (const { submitter } of network.members) expect.soft([...sentBy.keys()]).toContain(submitter.address);
  }

  test("take turns", () => assertHealthy("all well"), 300_000);

  test("keep the feeds fresh while any of them are dead, as many as may be", async () => {
    for (const dead of subsets(all, faults)) {
      const kill = () => Promise.all(dead.flatMap((i) => [member(i).kill("node"), member(i).kill("provider")]));
      const of = await assertBound(`dead: ${dead.join(", ")}`, faults, 1, kill);
      expect(of.needed).toBeGreaterThan(0);
      await Promise.all(dead.flatMap((i) => [member(i).startProvider(), member(i).startNode(network.nodeOptions())]));
    }
    await assertBound("the last ones start", faults, 1);
    await assertHealthy("all alive again");
  }, 1_800_000);

  test("keep the feeds fresh while nodes report and do not send", async () => {
    const mute = all.slice(0, faults);
    await assertBound(`mute: ${mute.join(", ")}`, faults, 2, () =>
      Promise.all(mute.map((i) => member(i).kill("node"))),
    );
    await Promise.all(mute.map((i) => member(i).startNode(network.nodeOptions())));
  }, 300_000);

  test("send nothing in a minority, and are whole again when they reach each other", async () => {
    for (const minority of [all.slice(0, faults), all.slice(-faults)]) {
      const rest = all.filter((i) => !minority.includes(i));
      let cutAt = Number.POSITIVE_INFINITY;
      await assertBound(`cut off: ${minority.join(", ")}`, faults, 2, async () => {
        network.split(minority, rest);
        cutAt = Date.now() / 1000;
      });
      const senders = network.mined.transactions
        .filter(({ round }) => round + 2 > cutAt + 1)
        .map(({ sender }) => sender);
      for (const i of minority) expect(senders).not.toContain(member(i).submitter.address);
      network.heal();
      await assertHealthy("healed");
    }
  }, 600_000);

  test("send nothing where no part has a quorum, and are whole again when they reach each other", async () => {
    const half = Math.floor(size / 2);
    network.split(all.slice(0, half), all.slice(half));
    const cutAt = Date.now() / 1000;
    await delay(30_000);
    await network.mined.read();
    expect(network.mined.transactions.filter(({ round }) => round + 2 > cutAt + 1)).toEqual([]);
    const healedAt = Date.now();
    network.heal();
    const oldestRound = async () => {
      await network.mined.read();
      return network.mined.oldestRound;
    };
    await expect.poll(oldestRound, { timeout: 30_000 }).toBeGreaterThan(healedAt / 1000 - 2);
    console.log(`all updated again ${((Date.now() - healedAt) / 1000).toFixed(1)} s after all reach each other`);
    await assertHealthy("healed from halves");
  }, 600_000);

  test("keep the feeds fresh while pairs of them are cut off", async () => {
    const pairs = all.flatMap((a) => all.slice(a + 1).map((b) => [a, b] as const));
    for (const pair of size === 4 ? pairs : pairs.filter((_, i) => i % 4 === 0)) {
      await assertBound(`cut pair: ${pair.join("-")}`, faults, 1, async () => network.cut([pair]));
    }
    const ring = all.map((i) => [i, (i + 1) % size] as const);
    // Each node misses as many reports as it can do without. With four nodes a ring would leave none a quorum.
    await assertBound("cut pairs: many", faults, 2, async () =>
      network.cut(size === 4 ? ring.filter((_, i) => i % 2) : ring),
    );
    // The first reaches too few providers, and gets their reports from other nodes.
    const lonely = all.slice(1, size - faults).map((i) => [0, i] as const);
    await assertBound("one that has to be told reports", faults, 2, async () => network.cut(lonely));
    network.heal();
    await assertHealthy("healed from pairs");
  }, 900_000);

  test("keep the feeds fresh while others share transactions that are never mined", async () => {
    const cancellers = all.slice(0, faults);
    const proxies = await Promise.all(cancellers.map(() => startRpcProxy(network.chain.url, network.namespaces.own)));
    for (const proxy of proxies) proxy.faults.set("eth_sendRawTransaction", "swallows");
    await Promise.all(
      cancellers.map(async (i, index) => {
        await member(i).kill("node");
        await member(i).startNode(network.nodeOptions({ rpcUrl: proxies[index]?.url ?? "" }));
      }),
    );
    const ends = cancellers.map((i) => startCancelling(network.chain, member(i).submitter));
    await assertBound(`cancelling: ${cancellers.join(", ")}`, faults, 4);
    const replaced = await Promise.all(ends.map((end) => end()));
    expect(Math.max(...replaced)).toBeGreaterThan(0);
    await Promise.all(
      cancellers.map(async (i) => {
        await member(i).kill("node");
        await member(i).startNode(network.nodeOptions());
      }),
    );
    await Promise.all(proxies.map((proxy) => proxy.close()));
    // What they shared last is not replaced any more, and is mined beside what others have sent since.
    await network.run(1);
  }, 300_000);

  test("keep the feeds fresh while a stranger floods them, and take nothing of it", async () => {
    const end = startFlood(network.members, network.datasets[0] as Address);
    await assertBound("flood", 0, 2);
    const answers = await end();
    const taken = [...answers.keys()].filter((said) => / 200 /.test(said) && !said.endsWith('{"held":0}'));
    expect(taken).toEqual([]);
    expect([...answers.values()].reduce((a, b) => a + b)).toBeGreaterThan(100);
  }, 300_000);

  test("keep the feeds fresh while their RPC endpoint is slow and loses calls", async () => {
    const lossy: [CallFault, ...CallFault[]] = ["delayed", "dropped"];
    const options = { name: "RPC", faults: lossy, tally: {}, host: network.namespaces.own } as const;
    const proxies = await Promise.all(
      all.map((i) => startFaultProxy(network.chain.url, { ...options, random: seededChoices(1, i) })),
    );
    await network.restart(({ index }) => ({ rpcUrl: proxies[index]?.url ?? "" }));
    for (const proxy of proxies) proxy.faultRate = 0.05;
    await assertBound("delay and loss", faults, 3);
    await network.restart();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }, 400_000);

  test("keep the feeds fresh with clocks a second apart", async () => {
    await network.restart(({ index }) => ({ skewMs: index % 2 === 0 ? 0 : 1_000 }));
    await assertBound("clocks a second apart", faults, 4);
    await network.restart();
  }, 400_000);

  test(`send ${ROUNDS} rounds with at most one needless transaction in 200`, async () => {
    const missing = () => ROUNDS - measured.reduce((sum, { of }) => sum + of.needed, 0);
    while (missing() > 0) await assertBound("all well", 0, 4);
    const rounds = measured.reduce((sum, { of }) => sum + of.needed, 0);
    const needless = measured.reduce((sum, { of }) => sum + of.needless, 0);
    expect(needless / rounds).toBeLessThanOrEqual(0.005);
  }, 1_200_000);

  test("go on without one that signs two values", async () => {
    const liar = member(0);
    const [dataset] = network.datasets as [Address];
    const round = BigInt(Math.floor(Date.now() / 1000) - 2);
    const posted = await Promise.all(
      [1n, 2n].map(async (value) => {
        const key = stringToHex("SPOTPX/LIE-USD");
        const content = { outcome: "OK", value: numberToHex(value, { size: 32 }) } as const;
        const signature = await signReport(liar.provider, { chainId: 42, dataset, key, round, ...content });
        const asked = { network_id: 42, dataset, key, timestamp: Number(round) };
        return { ...asked, provider: liar.provider.address, ...content, signature };
      }),
    );
    const lie = async () => {
      for (const { nodeUrl } of network.members) {
        const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(posted) };
        expect(await (await fetch(`${nodeUrl}/reports`, init)).json()).toEqual({ held: 1 });
      }
    };
    await assertBound("a member that contradicts itself", faults, 2, lie);
    for (const { nodeUrl } of network.members) {
      const found = await fetch(`${nodeUrl}/contradictions?network_id=42&dataset=${dataset}`);
      expect(await found.json()).toMatchObject([{ provider: liar.provider.address }]);
    }
  }, 300_000);
});

/** Returns every non-empty subset of at most `most` elements. */
function subsets(all: readonly number[], most: number): readonly (readonly number[])[] {
  let found: (readonly number[])[] = [[]];
  for (const one of all) found = [...found, ...found.map((subset) => [...subset, one])];
  return found.filter(({ length }) => length > 0 && length <= most);
}

function table(
  size: number,
  measured: readonly { readonly title: string; readonly of: Measurement; readonly bound: number }[],
  network: Network,
): string {
  const rows = measured.map(({ title, of, bound }) => {
    const shares = network.members.map(({ submitter }) => of.sentBy.get(submitter.address) ?? 0).join(" ");
    return `| ${title} | ${of.needed} | ${of.needless} | ${of.greatestAge} | ${bound} | ${shares} |`;
  });
  const rounds = measured.reduce((sum, { of }) => sum + of.needed, 0);
  const needless = measured.reduce((sum, { of }) => sum + of.needless, 0);
  return [
    `| ${size} nodes | rounds | needless transactions | oldest feed, s | bound, s | sent by each |`,
    "|---|---|---|---|---|---|",
    ...rows,
    `| all | ${rounds} | ${needless} (${((100 * needless) / Math.max(1, rounds)).toFixed(2)} %) | | | |`,
  ].join("\n");
}
