import { freePort } from "@dataset-oracle/devnet/free-ports";
import { signBatchReport } from "@dataset-oracle/protocol/batch-report";
import type { ContradictionAnswer, SignedStatement } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import type { SignedBatchReport, SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import { signReport } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, keccak256, numberToHex, stringToHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** Two nodes, of which the first reaches two of four providers. */

let chain: Chain;
let providers: Provider[];
let dataset: Address;
/** Its feeds are the nodes' own. */
let fed: Address;
const FEEDS = ["SPOTPX/BTC-USD", "SPOTPX/ETH-USD"];
const nodes: RunningOperator[] = [];
const accounts = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
/** The clock stands still while both nodes are asked for one round. */
let stopped: number | null = null;
const clock = () => stopped ?? Date.now();

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  const members = providers.map(({ address }) => address);
  [dataset, fed] = [await chain.deploy(members), await chain.deploy(members)];
  const ports = [await freePort(), await freePort()];
  const peers = accounts.map(({ address: submitter }, i) => {
    return { provider: members[i] ?? "0x", url: `http://127.0.0.1:${ports[i]}`, submitter };
  });
  const feeds = [{ dataset: fed, keys: FEEDS, heartbeatSeconds: 9, deviationBps: 50, minIntervalSeconds: 1 }];
  for (const [i, account] of accounts.entries()) {
    const reached = providers.map((provider, j) =>
      i === 0 && j > 1 ? { ...provider, url: "http://127.0.0.1:9" } : provider,
    );
    const settings = { peers, feeds, beatSeconds: 2 };
    const served = { chain, datasets: [dataset, fed], providers: reached, settings };
    nodes.push(await startOperator([served], { account, clock, port: ports[i] ?? 0 }));
  }
});

const [cutOffNode, connectedNode] = [() => nodes[0] as RunningOperator, () => nodes[1] as RunningOperator];
const signer = (i: number) => (providers[i] as Provider).account;
const now = () => Math.floor(clock() / 1000) - 2;

test("a node that is cut from two providers reaches a quorum by what another node holds", async () => {
  stopped = Date.now();
  const body = { network_id: 42, dataset, key: "SPOTPX/RELAYED-USD", broadcast: false };
  expect((await cutOffNode().askForProblem({ ...body, key: "SPOTPX/NOBODY-USD" })).code).toBe("no_quorum");
  const others = await connectedNode().ask(body);
  const own = await cutOffNode().ask(body);
  expect(own.reports).toEqual(others.reports);
  expect(own.reports).toHaveLength(4);
  stopped = null;
});

test("a node that is cut from two providers takes its turns at the feeds, with rows that another node holds", async () => {
  const sendersOfBatches = async () => {
    const updates = (await chain.updates(fed)).filter(
      ({ keyHash }) => keyHash === keccak256(stringToHex(FEEDS[0] ?? "")),
    );
    const sent = updates.map(({ transactionHash: hash }) => chain.client.getTransaction({ hash }));
    return (await Promise.all(sent)).slice(1).map(({ from }) => from);
  };
  await expect
    .poll(sendersOfBatches, { timeout: 120_000, interval: 1_000 })
    .toContain(accounts[0]?.address.toLowerCase());
}, 150_000);

interface Made {
  readonly by?: PrivateKeyAccount;
  readonly provider?: Address;
  readonly of?: Address;
  readonly network?: number;
  readonly round?: number;
  readonly value?: bigint;
  readonly signed?: bigint;
  readonly key?: string;
}

/** Signs a report as a provider does, with one thing changed. */
async function make(made: Made = {}): Promise<SignedReport> {
  const { by = signer(0), of = dataset, network = 42, round = now(), value = 5n, key = "SPOTPX/POSTED-USD" } = made;
  const key_hex = stringToHex(key);
  const about = { chainId: network, dataset: of, key: key_hex, round: BigInt(round), outcome: "OK" } as const;
  const signature = await signReport(by, { ...about, value: numberToHex(made.signed ?? value, { size: 32 }) });
  const provider = made.provider ?? by.address;
  const header = { network_id: network, dataset: of, key: key_hex, timestamp: round, provider } as const;
  return { ...header, outcome: "OK", value: numberToHex(value, { size: 32 }), signature };
}

async function post(statements: unknown, node = cutOffNode()) {
  const response = await fetch(`${node.base}/reports`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(statements),
  });
  return { status: response.status, body: await response.json() };
}

async function held(round: number, key?: string, of = dataset, node = cutOffNode()): Promise<SignedStatement[]> {
  const about = key === undefined ? "" : `&key=${stringToHex(key)}`;
  const response = await fetch(`${node.base}/reports?network_id=42&dataset=${of}&round=${round}${about}`);
  return (await response.json()) as SignedStatement[];
}

test("reports and rows that a provider posts are shown to other nodes, and used by the node that has them", async () => {
  stopped = Date.now();
  const key = "SPOTPX/POSTED-USD";
  const reports = await Promise.all(providers.map(({ account: by }) => make({ by, key })));
  const keys = [stringToHex("SPOTPX/A-USD"), stringToHex("SPOTPX/B-USD")];
  const values = [numberToHex(1n, { size: 32 }), numberToHex(2n, { size: 32 })];
  const row = { chainId: 42, dataset, keys, round: BigInt(now()), missing: 0n, values };
  const signedRow: SignedBatchReport = {
    ...{ network_id: 42, dataset, keys, timestamp: now(), provider: signer(0).address },
    ...{ missing: numberToHex(0n, { size: 32 }), values, signature: await signBatchReport(signer(0), row) },
  };
  expect(await post([...reports, signedRow])).toEqual({ status: 200, body: { held: 5 } });
  expect(await held(now(), key)).toEqual(reports);
  expect(await held(now(), "SPOTPX/B-USD")).toEqual([signedRow]);
  expect(await held(now())).toEqual([reports[0], signedRow, ...reports.slice(1)]);
  expect(await held(now() - 1)).toEqual([]);
  // The connected node was told nothing: relaying is one hop.
  expect(await held(now(), key, dataset, connectedNode())).toEqual([]);
  // The providers refuse this key when asked, so these four are the posted ones.
  for (const provider of providers) provider.unserved.add(stringToHex(key));
  const { reports: used } = await cutOffNode().ask({ network_id: 42, dataset, key, broadcast: false });
  expect(used.map(({ value }) => value)).toEqual(["5", "5", "5", "5"]);
  stopped = null;
});

describe("a posted report is not kept if", () => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  test.each<[string, () => Made]>([
    ["nobody in the committee signed it", () => ({ by: stranger })],
    ["a stranger signed it in a member's name", () => ({ by: stranger, provider: signer(1).address })],
    ["its value is not the signed one", () => ({ signed: 6n })],
    ["it is of another dataset", () => ({ of: stranger.address })],
    ["it is of another network", () => ({ network: 43 })],
    ["it is too old to be stored", () => ({ round: now() - 301 })],
    ["it is of a later round", () => ({ round: now() + 60 })],
    ["it cannot be stored", () => ({ value: 2n ** 208n })],
  ])("%s", async (_, made) => {
    const report = await make({ key: "SPOTPX/REFUSED-USD", ...made() });
    expect(await post([report])).toEqual({ status: 200, body: { held: 0 } });
    expect(await held(report.timestamp, "SPOTPX/REFUSED-USD")).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["it is no report", [{ value: "1" }]],
    ["it is one of too many", Array(65).fill({})],
    ["it is not in a list", {}],
  ])("%s", async (_, body) => {
    expect((await post(body)).status).toBe(400);
  });
});

test("a member that floods loses its own oldest reports only", async () => {
  const round = now();
  const kept = await make({ by: signer(1), round, key: "SPOTPX/KEPT-USD" });
  const first = await make({ by: signer(2), round, key: "SPOTPX/FIRST-USD" });
  expect((await post([kept, first])).body).toEqual({ held: 2 });
  expect(await held(round, "SPOTPX/FIRST-USD")).toHaveLength(1);
  const keys = Array.from({ length: 250 }, (_, i) => stringToHex(`SPOTPX/${"F".repeat(200)}${i}-USD`.slice(0, 250)));
  for (let i = 0; i < 12; i++) {
    const values = keys.map(() => numberToHex(1n, { size: 32 }));
    const about = {
      keys: keys.map((key): Hex => `${key}${numberToHex(i, { size: 2 }).slice(2)}`),
      missing: 0n,
      values,
    };
    const row = { chainId: 42, dataset, round: BigInt(round), ...about };
    const signed = {
      ...{ network_id: 42, dataset, timestamp: round, provider: signer(2).address, values, keys: about.keys },
      ...{ missing: numberToHex(0n, { size: 32 }), signature: await signBatchReport(signer(2), row) },
    };
    expect((await post([signed])).body).toEqual({ held: 1 });
  }
  expect(await held(round, "SPOTPX/FIRST-USD")).toEqual([]);
  expect(await held(round, "SPOTPX/KEPT-USD")).toEqual([kept]);
}, 60_000);

test("two posted reports that contradict each other are proof against their signer, who is not counted any more", async () => {
  const round = now();
  const by = signer(3);
  const both = [await make({ by, round, value: 1n }), await make({ by, round, value: 2n })];
  expect((await post(both)).body).toEqual({ held: 1 });
  const response = await fetch(`${cutOffNode().base}/contradictions?network_id=42&dataset=${dataset}`);
  const [found] = (await response.json()) as ContradictionAnswer[];
  expect(found).toMatchObject({ provider: by.address, timestamp: round, statements: both });
  expect(await held(round)).not.toContainEqual(expect.objectContaining({ provider: by.address }));
});
