import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { type Address, type Hash, keccak256, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chainOf, type TestChain } from "../operator/test/support/chain.js";
import { type RunningOperator, startOperator } from "../operator/test/support/operator.js";
import { type StubProvider, startProviders } from "../operator/test/support/stub-providers.js";
import { type ChainName, chainIdOf, isInstalled, startDevelopmentChain } from "./development-chains.js";

const ETH = "SPOTPX/ETH-USD";
/** No feed updates it. */
const OTHER = "SPOTPX/XRP-USD";
const FEEDS = ["SPOTPX/BTC-USD", "SPOTPX/SOL-USD", "SPOTPX/LTC-USD"];
const HEARTBEAT_SECONDS = 10;
/** On a busy machine, chains and providers need longer than an operator waits by default. */
const PATIENCE = { providerTimeoutMs: 20_000, rpcTimeoutMs: 20_000 };
const WITHIN_A_MINUTE = { timeout: 60_000 };

let chain: TestChain;
let providers: StubProvider[];
let operator: RunningOperator | undefined;

async function startOn(name: ChainName): Promise<void> {
  providers = await startProviders(4);
  chain = chainOf(await startDevelopmentChain(name), chainIdOf(name));
}

async function end(): Promise<void> {
  await Promise.all(providers?.map((provider) => provider.close()) ?? []);
  await chain?.close();
}

const body = (dataset: Address, key: string, broadcast = true) => {
  return { network_id: chain.chainId, dataset, key, broadcast };
};

/** Sends the returned transaction from an account of the node, waits until it is mined, and returns its hash. */
async function sendFromNode({ transaction }: DataAnswer): Promise<Hash> {
  const params = [{ from: chain.otherAccount, ...transaction }];
  const hash = await chain.client.request({ method: "eth_sendTransaction", params } as never);
  await chain.wait(hash);
  return hash;
}

/** Returns how many feeds the operator has seen stored, once it has nothing more to do for them. */
async function storedFeeds({ registry, networks }: RunningOperator): Promise<number> {
  const queues = [...networks.values()].flatMap(({ senders }) => senders.queues);
  if (queues.some(({ depth }) => depth.waiting + depth.sent > 0)) return 0;
  return (await registry.metrics()).match(/^operator_feed_age_seconds\{/gm)?.length ?? 0;
}

describe.each<ChainName>(["hardhat-2", "hardhat-3", "geth", "geth-amsterdam"])("on %s", (name) => {
  let dataset: Address;

  describe.skipIf(!isInstalled(name))("an operator", () => {
    beforeAll(async () => {
      await startOn(name);
      dataset = await chain.deploy(providers.map(({ address }) => address));
    });
    afterAll(end);
    afterEach(async () => {
      await operator?.close();
      operator = undefined;
    });

    test("broadcasts, waits until it is mined, and hands over a transaction that can be sent", async () => {
      operator = await startOperator([{ chain, datasets: [dataset], providers }]);
      const sent = await operator.ask(body(dataset, ETH), { prefer: "wait=20" });
      const round = { value: BigInt(sent.value), updatedAt: BigInt(sent.timestamp), status: "OK" };
      await expect.poll(() => chain.query(dataset, ETH)).toEqual(round);

      const unsent = await operator.ask(body(dataset, ETH, false));
      expect(unsent.timestamp).toBeGreaterThan(sent.timestamp);
      await sendFromNode(unsent);
      expect(await chain.query(dataset, ETH)).toMatchObject({ updatedAt: BigInt(unsent.timestamp) });
    });

    test("keeps feeds within their heartbeat, several in one transaction", async () => {
      const before = (await chain.updates(dataset)).length;
      // The operator's clock moves only when the test says so, so that the machine's speed decides nothing. It is behind the
      // chain's, because no block stores a round of its future.
      let now = Date.now() - HEARTBEAT_SECONDS * 1_000;
      const policy = { heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 10_000, minIntervalSeconds: 1 };
      const settings = { feeds: [{ dataset, keys: FEEDS, ...policy }], feedPollMs: 1_000, ...PATIENCE };
      operator = await startOperator([{ chain, datasets: [dataset], providers, settings }], {
        clock: { now: () => now, monotonic: () => performance.now() },
      });
      await expect.poll(() => storedFeeds(operator as RunningOperator), WITHIN_A_MINUTE).toBe(FEEDS.length);

      now += (HEARTBEAT_SECONDS - 3) * 1_000;
      const updates = async () => (await chain.updates(dataset)).slice(before);
      await expect.poll(async () => (await updates()).length, WITHIN_A_MINUTE).toBe(2 * FEEDS.length);
      const again = (await updates()).slice(FEEDS.length);
      expect(new Set(again.map(({ transactionHash }) => transactionHash)).size).toBe(1);
      expect(again.map(({ keyHash }) => keyHash).toSorted()).toEqual(
        FEEDS.map((key) => keccak256(stringToHex(key))).toSorted(),
      );
    });

    test("takes up its pending transaction after a restart", async () => {
      const served = { chain, datasets: [dataset], providers };
      operator = await startOperator([served]);
      const { account } = operator;
      await operator.recovered;
      await chain.pauseMining();
      const pending = await operator.ask(body(dataset, ETH));
      await operator.close();
      expect(await chain.client.getTransactionCount({ address: account.address })).toBe(0);

      operator = await startOperator([served], { account });
      await operator.recovered;
      const other = await operator.ask(body(dataset, OTHER));
      await chain.resumeMining();
      await expect
        .poll(async () => (await chain.query(dataset, OTHER)).updatedAt, WITHIN_A_MINUTE)
        .toBeGreaterThanOrEqual(BigInt(other.timestamp));
      const { updatedAt } = await chain.query(dataset, ETH);
      expect(updatedAt).toBeGreaterThanOrEqual(BigInt(pending.timestamp));
      // One transaction for each request: the pending one was not sent again under another nonce.
      expect(await chain.client.getTransactionCount({ address: account.address })).toBe(2);
    });

    test("answers with the stored value when another relayer has stored the round, and sends nothing", async () => {
      // The operator's clock stands still, so that it is asked twice for one round.
      const now = Date.now();
      operator = await startOperator([{ chain, datasets: [dataset], providers }], {
        clock: { now: () => now, monotonic: () => performance.now() },
      });
      const key = "SPOTPX/LOST-USD";
      const unsent = await operator.ask(body(dataset, key, false));
      const hash = await sendFromNode(unsent);
      const nonce = await chain.nonce(operator.account.address);
      const answer = await operator.ask(body(dataset, key));
      expect(answer).toMatchObject({ timestamp: unsent.timestamp, transaction_hash: hash, status: "OK" });
      expect(answer).toMatchObject({ value: unsent.value, reports: [] });
      expect(await chain.nonce(operator.account.address)).toBe(nonce);
    });
  });
});

describe.skipIf(!isInstalled("ganache"))("on ganache, whose EVM is older than the datasets", () => {
  beforeAll(() => startOn("ganache"));
  afterAll(end);

  test("an operator keeps feeds fresh all the same", async () => {
    const dataset = await chain.deploy(providers.map(({ address }) => address));
    const feed = { dataset, keys: FEEDS, heartbeatSeconds: 5, deviationBps: 10_000, minIntervalSeconds: 1 };
    const settings = { feeds: [feed], feedPollMs: 1_000, ...PATIENCE };
    operator = await startOperator([{ chain, datasets: [dataset], providers, settings }]);
    const updates = () => chain.updates(dataset);
    await expect.poll(async () => (await updates()).length, WITHIN_A_MINUTE).toBeGreaterThanOrEqual(6);
    await operator.close();
  });
});
