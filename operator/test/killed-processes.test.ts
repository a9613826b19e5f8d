import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { startOperator } from "@dataset-oracle/devnet/network-services";
import type { ServiceProcess } from "@dataset-oracle/devnet/service-process";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { seededChoices } from "@dataset-oracle/tools/seeded-random";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { startChain } from "./support/chain.js";
import { type RpcReply, startRpcProxy } from "./support/rpc-proxy.js";
import { type Behavior, startProviders } from "./support/stub-providers.js";

/** What `npm run simulate` shows of many faults in virtual time, here with SIGKILL, processes and real connections. */

const OPERATORS = 2;
const REQUESTS_PER_KILL = 12;
const FEEDS = ["SPOTPX/F0-USD", "SPOTPX/F1-USD"];

const [chain, providers] = await Promise.all([startChain(42, undefined, 1), startProviders(4)]);
const members = providers.map(({ address }) => address);
const dataset = await chain.deploy(members);
const rpcs = await Promise.all([startRpcProxy(chain.url), startRpcProxy(chain.url)]);
const folder = mkdtempSync(join(tmpdir(), "killed-"));
let areConnectionsFailing = true;

for (const [i, proxy] of rpcs.entries()) {
  const random = seededChoices(1, i);
  proxy.script = async (): Promise<RpcReply | null> => {
    // The preferred endpoint is the worse one.
    if (!areConnectionsFailing || random.next() >= (i === 0 ? 0.1 : 0.04)) return null;
    await delay(random.below(200));
    return random.pick<RpcReply>([
      { connection: "is reset" },
      { isPassedOn: true, connection: "is reset in the answer" },
      { isPassedOn: true, connection: "stays silent" },
      { status: 503, body: "upstream failed" },
    ]);
  };
}
for (const [i, provider] of providers.entries()) {
  const random = seededChoices(1, 10 + i);
  const behave = (): Behavior =>
    areConnectionsFailing && random.next() < 0.04 ? random.pick(["closes the connection", "hangs"] as const) : "honest";
  Object.defineProperty(provider, "behavior", { get: behave });
}

async function prepareOperator(
  index: number,
): Promise<{ url: string; sender: Hex; restart(): Promise<ServiceProcess> }> {
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  await chain.fund(address);
  const policy = { heartbeatSeconds: 10, deviationBps: 1_000_000, minIntervalSeconds: 3 };
  const network = {
    ...{ datasets: [dataset], networkId: 42, rpcUrls: rpcs.map(({ url }) => url) },
    providers: providers.map((one) => ({ address: one.address, url: one.url })),
    feeds: [{ dataset, keys: FEEDS, ...policy }],
    ...{ sender: members[index], members: members.slice(0, OPERATORS), stageMs: 1_500, beatSeconds: 1 },
    ...{ gasPercentPerCaller: 100, rpcTimeoutMs: 2_000, stuckSeconds: 5 },
  };
  const port = await freePort();
  const settings = { port, requestsPerMinute: 10_000, newKeysPerMinute: 10_000 };
  const options = { name: `operator-${index}`, readyPath: "/live" };
  const own = (service: ServiceProcess) => closeAtEnd(() => service.close());
  const place = { chainUrl: chain.url, folder, state: folder, own };
  const restart = () => startOperator(place, [{ address, privateKey }], options, network, settings);
  return { url: `http://127.0.0.1:${port}`, sender: address, restart };
}

test("no update is lost, and no nonce gap remains, while operators are killed and connections fail", async () => {
  const operators = await Promise.all(Array.from({ length: OPERATORS }, (_, i) => prepareOperator(i)));
  const processes = await Promise.all(operators.map(({ restart }) => restart()));
  const promised = new Map<string, number>();
  const ask = async (url: string, key: string) => {
    const body = JSON.stringify({ network_id: 42, dataset, key, broadcast: true });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    // One that is killed does not answer.
    const response = await fetch(`${url}/data/request`, init).catch(() => null);
    const answer = (await response?.json().catch(() => null)) as { transaction_hash?: Hex; timestamp: number } | null;
    if (answer?.transaction_hash) promised.set(key, Math.max(promised.get(key) ?? 0, answer.timestamp));
  };
  for (const [i, operator] of operators.entries()) {
    const ended = processes[i] as ServiceProcess;
    const asked = Array.from({ length: REQUESTS_PER_KILL }, async (_, n) => {
      await delay(n * 50);
      // Half of them ask the one that is killed meanwhile.
      await ask(operators[n % 2 === 0 ? i : (i + 1) % OPERATORS]?.url ?? "", `SPOTPX/K${i}X${n}-USD`);
      if (n === 2) process.kill(ended.pid, "SIGKILL");
    });
    await ended.exited;
    await operator.restart();
    await Promise.all(asked);
  }
  const killedAt = Date.now() / 1_000;
  areConnectionsFailing = false;
  expect(promised.size).toBeGreaterThan((OPERATORS * REQUESTS_PER_KILL) / 4);

  const rounds = new Map([...promised, ...FEEDS.map((feed) => [feed, killedAt] as const)]);
  const missing = async () => {
    const stored = await Promise.all([...rounds.keys()].map((key) => chain.query(dataset, key)));
    return [...rounds].filter(([, round], n) => Number(stored[n]?.updatedAt) < round);
  };
  await expect.poll(missing, { timeout: 60_000, interval: 500 }).toEqual([]);
  // Feeds go on, so that there is a moment without a transaction only now and then.
  const gaps = async () => {
    const { queued } = await chain.client.getTxpoolContent();
    const senders = Object.keys(queued).map((sender) => sender.toLowerCase());
    return operators.filter(({ sender }) => senders.includes(sender.toLowerCase()));
  };
  await expect.poll(gaps, { timeout: 60_000, interval: 500 }).toEqual([]);
});
