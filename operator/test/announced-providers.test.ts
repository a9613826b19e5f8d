import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import type { ServedDataset } from "@dataset-oracle/protocol/http-schemas/datasets";
import { encodeAnnouncement, signAnnouncement } from "@dataset-oracle/protocol/node-announcement";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { OTHER_ACCOUNT } from "./support/chain.js";
import { startCommittee, WAIT } from "./support/committee.js";
import type { RunningOperator } from "./support/operator.js";
import type { StubProvider } from "./support/stub-providers.js";

/** These tests run operators that learn from the directory on chain where the providers answer. */

let directory: Address;

const { chain, providers, members, body, start: startWith } = await startCommittee(4);

beforeEach(async () => {
  directory = await chain.deployContract("CommitteeDirectory", committeeDirectoryAbi, []);
});

/** Announcements are of different seconds, in the order in which the tests make them. */
let issuedAt = BigInt(Math.floor(Date.now() / 1000) - 3_600);

async function announceFor(account: StubProvider["account"], url: string, at: bigint): Promise<void> {
  const announcement = { provider: account.address, url, issuedAt: at };
  const signature = await signAnnouncement(account, { chainId: 42, address: directory }, announcement);
  const data = encodeAnnouncement(announcement, signature);
  await chain.wait(await chain.client.sendTransaction({ account: OTHER_ACCOUNT, to: directory, data, gas: 300_000n }));
}
const announce = (i: number, url = providers[i]?.url ?? "") =>
  announceFor((providers[i] as StubProvider).account, url, ++issuedAt);

/** @param known The providers in its configuration. */
async function start(known: readonly StubProvider[] = [], allowLocalProviders = true): Promise<RunningOperator> {
  const settings = { committeeDirectory: directory, allowLocalProviders, reorgDepth: 100, rpcPollMs: 50 };
  const operator = await startWith(settings, {}, { providers: known });
  onTestFinished(() => operator.close());
  return operator;
}

/** Returns the URLs that the operator shows, in the committee's order; null for a provider without one. */
async function urlsOf(operator: RunningOperator): Promise<readonly (string | null)[]> {
  const response = await fetch(`${operator.base}/datasets`);
  const [served] = (await response.json()) as ServedDataset[];
  const urls = new Map(served?.providers.map(({ address, url }) => [address, url]));
  return providers.map(({ address }) => urls.get(address) ?? null);
}
const untilUrls = (operator: RunningOperator, urls: readonly (string | null)[]) =>
  expect.poll(() => urlsOf(operator)).toEqual(urls);

let used = 0;
const request = (broadcast = false) => body(`SPOTPX/A${used++}-USD`, broadcast);

test("providers that are announced while the operator runs are asked from then on", async () => {
  const operator = await start();
  const { code, detail, failures } = await operator.askForProblem(request());
  expect(code).toBe("no_quorum");
  expect(detail).toContain(`${members[0]}: has no endpoint that this operator knows`);
  expect(failures?.map(({ reason }) => reason)).toEqual(providers.map(() => "no_endpoint"));
  for (const i of providers.keys()) await announce(i, `${providers[i]?.url}/`);
  await untilUrls(
    operator,
    providers.map(({ url }) => url),
  );
  const { reports } = await operator.ask(request(true), WAIT);
  expect(reports.map(({ provider }) => provider)).toEqual(members);
});

test("only members' announcements count, unless one is configured; one that withdraws, or announces no URL of a service, has none", async () => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  await announce(0, "https://zero.example");
  await announce(1, "javascript:alert(1)//");
  await announce(2, "https://two.example/base/");
  await announce(3, "https://three.example");
  await announceFor(stranger, "https://stranger.example", ++issuedAt);
  const operator = await start(providers.slice(0, 1));
  const configured = providers[0]?.url ?? "";
  await untilUrls(operator, [configured, null, "https://two.example/base", "https://three.example"]);
  const response = await fetch(`${operator.base}/datasets`);
  expect(await response.text()).not.toContain("stranger");
  await announce(3, "");
  await untilUrls(operator, [configured, null, "https://two.example/base", null]);
});

test("the announcement that was signed last counts, whenever it was sent, and one that a reorganization takes back does not", async () => {
  const [{ account }] = providers as [StubProvider];
  await announceFor(account, "https://old.example", 1_000n);
  await announceFor(account, "https://new.example", 1_002n);
  await expect(announceFor(account, "https://between.example", 1_001n)).rejects.toThrow("reverted");
  const operator = await start();
  await untilUrls(operator, ["https://new.example", null, null, null]);
  const block = await chain.client.getBlockNumber({ cacheTime: 0 });
  await announce(0, "https://after.example");
  await untilUrls(operator, ["https://after.example", null, null, null]);
  // A block in between would be one too many to take back.
  await chain.pauseMining();
  const depth = Number((await chain.client.getBlockNumber({ cacheTime: 0 })) - block);
  await chain.client.request({ method: "anvil_reorg", params: [depth, []] } as never);
  await chain.resumeMining();
  await untilUrls(operator, ["https://new.example", null, null, null]);
});

test("an announced URL of this machine is asked on a development network only; a configured one always", async () => {
  for (const i of providers.keys()) await announce(i);
  const strict = await start([], false);
  const asked = () => providers.map((provider) => provider.asked.length);
  const before = asked();
  const { failures } = await strict.askForProblem(request());
  expect(failures?.map(({ reason }) => reason)).toEqual(providers.map(() => "unreachable"));
  expect(asked()).toEqual(before);
  const configured = await start(providers, false);
  expect((await configured.ask(request())).status).toBe("OK");
  expect(asked()).toEqual(before.map((count) => count + 1));
});
