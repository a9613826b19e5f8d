import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import type { ServedDataset } from "@dataset-oracle/protocol/http-schemas/datasets";
import { encodeAnnouncement, signAnnouncement } from "@dataset-oracle/protocol/node-announcement";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { NetworkSettings } from "../src/config.js";
import { OTHER_ACCOUNT } from "./support/chain.js";
import { startCommittee } from "./support/committee.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import type { Provider } from "./support/stub-providers.js";

/** These tests run operators that learn from the directory on chain where the providers answer. */

let directory: Address;

const { chain, providers, dataset } = await startCommittee(4);

beforeEach(async () => {
  directory = await chain.deployContract("CommitteeDirectory", committeeDirectoryAbi, []);
});

/** Announcements are of different seconds, in the order in which the tests make them. */
let issuedAt = BigInt(Math.floor(Date.now() / 1000) - 3_600);

async function announceFor(account: Provider["account"], url: string, at: bigint): Promise<void> {
  const announcement = { provider: account.address, url, issuedAt: at };
  const signature = await signAnnouncement(account, { chainId: 42, address: directory }, announcement);
  const data = encodeAnnouncement(announcement, signature);
  await chain.wait(await chain.client.sendTransaction({ account: OTHER_ACCOUNT, to: directory, data, gas: 300_000n }));
}
const announce = (i: number, url = providers[i]?.url ?? "") =>
  announceFor((providers[i] as Provider).account, url, ++issuedAt);

/** @param known The providers in its configuration. */
async function start(
  settings: Partial<NetworkSettings> = {},
  known: readonly Provider[] = [],
): Promise<RunningOperator> {
  const network = {
    committeeDirectory: directory,
    allowLocalProviders: true,
    reorgDepth: 100,
    rpcPollMs: 50,
    ...settings,
  };
  const operator = await startOperator([{ chain, datasets: [dataset], providers: known, settings: network }]);
  onTestFinished(() => operator.close());
  return operator;
}

/** Returns the URLs that the operator shows, in the committee's order; null for a provider without one. */
async function urlsOf(operator: RunningOperator): Promise<readonly (string | null)[]> {
  const response = await fetch(`${operator.base}/datasets`, { signal: AbortSignal.timeout(10_000) });
  const [served] = (await response.json()) as ServedDataset[];
  const urls = new Map(served?.providers.map(({ address, url }) => [address, url]));
  return providers.map(({ address }) => urls.get(address) ?? null);
}
const untilUrls = (operator: RunningOperator, urls: readonly (string | null)[]) =>
  expect.poll(() => urlsOf(operator), { timeout: 30_000 }).toEqual(urls);

let used = 0;
const request = () => ({ network_id: 42, dataset, key: `SPOTPX/A${used++}-USD`, broadcast: false });
const askedOf = (provider: Provider | undefined) => provider?.asked.length ?? 0;

test("providers that are announced while the operator runs are asked from then on", async () => {
  const operator = await start();
  const { code, detail, failures } = await operator.askForProblem(request());
  expect(code).toBe("no_quorum");
  expect(detail).toContain(`${providers[0]?.address}: has no endpoint that this operator knows`);
  expect(failures?.map(({ reason }) => reason)).toEqual(providers.map(() => "no_endpoint"));
  for (const i of providers.keys()) await announce(i, `${providers[i]?.url}/`);
  await untilUrls(
    operator,
    providers.map(({ url }) => url),
  );
  const { reports } = await operator.ask({ ...request(), broadcast: true }, { prefer: "wait=10" });
  expect(reports.map(({ provider }) => provider)).toEqual(providers.map(({ address }) => address));
});

test("only members' announcements count; one that withdraws, or announces no URL of a service, has none", async () => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  await announce(0, "https://zero.example");
  await announce(1, "javascript:alert(1)//");
  await announce(2, "https://two.example/base/");
  await announce(3, "https://three.example");
  await announceFor(stranger, "https://stranger.example", ++issuedAt);
  const operator = await start();
  await untilUrls(operator, ["https://zero.example", null, "https://two.example/base", "https://three.example"]);
  const response = await fetch(`${operator.base}/datasets`, { signal: AbortSignal.timeout(10_000) });
  expect(await response.text()).not.toContain("stranger");
  await announce(3, "");
  await untilUrls(operator, ["https://zero.example", null, "https://two.example/base", null]);
});

test("the announcement that was signed last counts, whenever it was sent", async () => {
  const [{ account }] = providers as [Provider];
  await announceFor(account, "https://old.example", 1_000n);
  await announceFor(account, "https://new.example", 1_002n);
  await expect(announceFor(account, "https://between.example", 1_001n)).rejects.toThrow("reverted");
  const operator = await start();
  await untilUrls(operator, ["https://new.example", null, null, null]);
});

test("the configured URL of a provider counts, not the announced one", async () => {
  await announce(0, "https://zero.example");
  await announce(1, "https://one.example");
  const operator = await start({}, providers.slice(0, 1));
  await untilUrls(operator, [providers[0]?.url ?? "", "https://one.example", null, null]);
});

test("an announcement that a reorganization takes back no longer counts", async () => {
  await announce(2, "https://before.example");
  const operator = await start();
  await untilUrls(operator, [null, null, "https://before.example", null]);
  const block = await chain.client.getBlockNumber({ cacheTime: 0 });
  await announce(2, "https://after.example");
  await untilUrls(operator, [null, null, "https://after.example", null]);
  // A block in between would be one too many to take back.
  await chain.client.setIntervalMining({ interval: 0 });
  const depth = Number((await chain.client.getBlockNumber({ cacheTime: 0 })) - block);
  await chain.client.request({ method: "anvil_reorg", params: [depth, []] } as never);
  await chain.client.setIntervalMining({ interval: 1 });
  await untilUrls(operator, [null, null, "https://before.example", null]);
});

test("an announced URL of this machine is asked on a development network only; a configured one always", async () => {
  for (const i of providers.keys()) await announce(i);
  const strict = await start({ allowLocalProviders: false });
  const before = providers.map(askedOf);
  const { failures } = await strict.askForProblem(request());
  expect(failures?.map(({ reason }) => reason)).toEqual(providers.map(() => "unreachable"));
  expect(providers.map(askedOf)).toEqual(before);
  await strict.close();

  const lenient = await start();
  expect((await lenient.ask(request())).status).toBe("OK");
  expect(providers.map(askedOf)).toEqual(before.map((count) => count + 1));

  const configured = await start({ allowLocalProviders: false }, providers);
  expect((await configured.ask(request())).status).toBe("OK");
  expect(providers.map(askedOf)).toEqual(before.map((count) => count + 2));
});
