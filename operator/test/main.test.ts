import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { COMMITTEE_DIRECTORY } from "@dataset-oracle/protocol/fixed-addresses";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { encodeAnnouncement, signAnnouncement } from "@dataset-oracle/protocol/node-announcement";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { OTHER_ACCOUNT } from "./support/chain.js";
import { startCommittee, WAIT } from "./support/committee.js";
import { spawnOperator } from "./support/spawn-operator.js";
import type { StubProvider } from "./support/stub-providers.js";

/** These tests run an operator as its owner does: a process whose configuration has an RPC URL and a dataset's address. */

const KEY = generatePrivateKey();

const folder = mkdtempSync(join(tmpdir(), "operator-"));
const { chain, providers, members, dataset, body } = await startCommittee(4);
await chain.deployAtFixedAddress("CommitteeDirectory");

function writeConfig(network: object, others: object = {}): string {
  const path = join(folder, "operator.json");
  writeFileSync(path, JSON.stringify({ metricsPort: 0, ...others, networks: [{ rpcUrls: [chain.url], ...network }] }));
  return path;
}

async function run(...args: string[]) {
  const { exited, output } = spawnOperator(args);
  return { code: await exited, output: output() };
}

async function sendAnnouncement({ account, url }: StubProvider): Promise<Hex> {
  const issuedAt = BigInt(Math.floor(Date.now() / 1000) - 60);
  const announcement = { provider: account.address, url, issuedAt };
  const signature = await signAnnouncement(account, { chainId: 42, address: COMMITTEE_DIRECTORY }, announcement);
  const data = encodeAnnouncement(announcement, signature);
  return chain.client.sendTransaction({ account: OTHER_ACCOUNT, to: COMMITTEE_DIRECTORY, data, gas: 300_000n });
}

test("operator --check-config exits with 0 for a valid configuration, and warns of feeds that nobody sends", async () => {
  const policy = { heartbeatSeconds: 60, deviationBps: 50, minIntervalSeconds: 10 };
  const feeds = [{ dataset, keys: ["SPOTPX/ETH-USD"], ...policy }];
  const { code, output } = await run("--config", writeConfig({ datasets: [dataset], feeds }), "--check-config");
  expect([code, output]).toEqual([0, expect.stringContaining("is valid. Networks: 42.")]);
  expect(output).toContain("network 42: its feeds are not sent");
  expect(output).toContain("Senders on network 42: none, so nothing is broadcast.");
});

test("an operator that cannot serve what is configured exits with 2, and prints the fix without a stack", async () => {
  const { code, output } = await run("--config", writeConfig({ datasets: [OTHER_ACCOUNT] }));
  expect([code, output]).toEqual([2, expect.stringContaining(`dataset ${OTHER_ACCOUNT} is not a contract.`)]);
  expect(output).not.toMatch(/^ {4}at /m);
});

test.each(["port", "metricsPort"])("what can pass by itself, such as a busy %s, ends it with 1", async (setting) => {
  const busy = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void busy.close());
  await once(busy, "listening");
  const { port } = busy.address() as AddressInfo;
  const settings = { port: 0, metricsPort: 0, [setting]: port };
  const { code, output } = await run("--config", writeConfig({ datasets: [dataset], networkId: 42 }, settings));
  expect([code, output]).toEqual([1, expect.stringContaining(`or choose another "${setting}".`)]);
});

test("an RPC endpoint that is down and has to say which network it serves ends it with 1, but not a wrong URL", async () => {
  const settings = { datasets: [dataset], providers: [] };
  const down = `http://127.0.0.1:${await freePort()}`;
  const { code, output } = await run("--config", writeConfig({ ...settings, rpcUrls: [down] }));
  expect([code, output]).toEqual([1, expect.stringContaining("the chain id cannot be read")]);
  const wrong = await run("--config", writeConfig({ ...settings, rpcUrls: ["127.0.0.1:8545"] }));
  expect([wrong.code, wrong.output]).toEqual([2, expect.stringContaining("rpcUrls/0 is not a URL")]);
});

test("configured as docs/Relaying.md shows it, it serves a request, logs no secret, and exits cleanly on SIGTERM", async () => {
  const sent: Hex[] = [];
  // One after another, because anvil could give two of them the same nonce.
  for (const provider of providers) sent.push(await sendAnnouncement(provider));
  await Promise.all(sent.map(chain.wait));
  const { address } = privateKeyToAccount(KEY);
  await chain.fund(address);
  const guide = readFileSync(join(ROOT, "docs", "Relaying.md"), "utf8");
  const shown = JSON.parse(/```json\n(\{[^`]*"datasets"[^`]*)```/.exec(guide)?.[1] ?? "").networks[0];
  const port = await freePort();
  const config = writeConfig({ ...shown, rpcUrls: [chain.url], datasets: [dataset] }, { port });
  const { child, exited, output } = spawnOperator(["--config", config], { OPERATOR_PRIVATE_KEY: KEY });
  const ready = () => fetch(`http://127.0.0.1:${port}/ready`).then(({ status }) => status, output);
  await expect.poll(ready).toBe(200);
  const response = await fetch(`http://127.0.0.1:${port}/data/request`, {
    method: "POST",
    headers: { "content-type": "application/json", ...WAIT },
    body: JSON.stringify(body("SPOTPX/ETH-USD")),
  });
  const answer = (await response.json()) as DataAnswer;
  expect(answer.reports?.map(({ provider }) => provider)).toEqual(members);
  const { from } = await chain.client.getTransaction({ hash: answer.transaction_hash as Hex });
  expect(from).toBe(address.toLowerCase());
  const { status, updatedAt } = await chain.query(dataset, "SPOTPX/ETH-USD");
  expect([status, Number(updatedAt)]).toEqual(["OK", answer.timestamp]);

  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  const log = output();
  expect(log).toContain("update sent");
  expect(log).not.toContain(KEY.slice(2));
  for (const line of log.trimEnd().split("\n")) JSON.parse(line);
});
