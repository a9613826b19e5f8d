import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { findLeakedSecrets } from "@dataset-oracle/devnet/test-support/find-leaked-secrets";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";
import { stringToHex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { json, startFakeExchanges } from "./support/fake-exchanges.js";
import { spawnProvider, untilListening, untilReady, writeConfig } from "./support/provider-process.js";
import { runCommand } from "./support/run-command.js";
import { DATASET, request } from "./support/test-provider.js";

const WEB = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const token = () => `canary${randomBytes(12).toString("hex")}`;

/** Everything that only the provider's owner may see. */
const SECRETS = {
  key: generatePrivateKey(),
  rpcToken: `${token()}%2F%2B`,
  rpcTokenOfVariable: token(),
  paidInHeader: token(),
  paidInQuery: token(),
};
const ENV = {
  PROVIDER_PRIVATE_KEY: SECRETS.key,
  RPC_TOKEN: SECRETS.rpcTokenOfVariable,
  PAID: SECRETS.paidInQuery,
};

/** How the RPC answers: it repeats what it was asked with, as gateways do. */
type LeakFault = (request: IncomingMessage, response: ServerResponse) => void;
const repeated = ({ url, headers }: IncomingMessage) =>
  `${url} ${decodeURIComponent(url ?? "")} ${JSON.stringify(headers)}`;
const answer = (body: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, ...body });
const FAULTS: Record<string, LeakFault> = {
  "refuses it": (request, response) =>
    void response.end(answer({ error: { code: -32000, message: repeated(request) } })),
  "answers something else": (request, response) => void response.end(answer({ result: repeated(request) })),
  "answers a page": (request, response) => void response.writeHead(401).end(`<html>${repeated(request)}`),
  "leads elsewhere": (request, response) => void response.writeHead(302, { location: `${request.url}` }).end(),
};

const exchanges = await startFakeExchanges();
let fault: LeakFault = () => {};
const rpc = await startLocalServer((request, response) => fault(request, response));
afterAll(async () => {
  await rpc.close();
  await exchanges.close();
});

const base = rpc.url;
const settings = {
  redirectedOrigins: exchanges.redirectedOrigins,
  deployments: ["42.json", "1337.json"],
  evidence: { folder: "evidence", maxMegabytes: 1 },
  webOracle: {
    rpcUrls: { 42: `${base}/v3/${SECRETS.rpcToken}`, 1337: `${base}/?key=\${RPC_TOKEN}` },
    folder: "specs",
    hosts: "any",
  },
  secrets: [
    { host: "api.paid.example", header: "x-api-key", file: "paid" },
    { host: "api.paid.example", query: "key", env: "PAID" },
  ],
};

/** Writes the configuration with a change, and what it names. */
function configWith(change: object): string {
  const { folder, config } = writeConfig({ ...settings, ...change });
  const financial = { address: DATASET, kind: "median", keyForm: "SPOT_PRICE", keys: ["SPOTPX/ETH-USD"] };
  const web = { address: WEB, kind: "median", keyForm: "WEB_ORACLE", keys: [] };
  for (const chainId of [42, 1337]) {
    const deployment = { chainId, datasets: { financial, web }, webOracleRegistry: DATASET };
    writeFileSync(join(folder, `${chainId}.json`), JSON.stringify(deployment));
  }
  writeFileSync(join(folder, "paid"), SECRETS.paidInHeader, { mode: 0o600 });
  return config;
}

test("a provider that runs shows none of its secrets, whatever fails", async () => {
  const provider = spawnProvider(["serve", "--config", configWith({})], ENV);
  onTestFinished(() => void provider.child.kill("SIGKILL"));
  const url = await untilListening(provider);
  await untilReady(url);
  const seen: string[] = [];
  const ask = async (path: string, body?: object) => {
    const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(new URL(path, url), body === undefined ? {} : post);
    const text = await response.text();
    seen.push(JSON.stringify([...response.headers]), text);
    return { status: response.status, text };
  };
  const now = () => Math.floor(Date.now() / 1_000);
  exchanges.quote("100", "100", "100", now());
  exchanges.behave("kraken", json("{}", 500));
  expect(await ask("/report", request(now()))).toMatchObject({ status: 200 });

  const codes = new Set<string>();
  for (const [name, behaviour] of Object.entries(FAULTS)) {
    fault = behaviour;
    for (const network_id of [42, 1337]) {
      const key = stringToHex(`WEB/${Buffer.from(name.padEnd(32)).toString("hex")}`);
      const { text } = await ask("/report", { network_id, dataset: WEB, key, timestamp: now() });
      codes.add(JSON.parse(text).code);
    }
  }
  expect([...codes]).toEqual(["registry_unavailable"]);
  for (const body of [[], { ...request(now()), network_id: 1 }]) await ask("/report", body);
  const metrics = /metrics for Prometheus at (http:[^"]+)"/.exec(provider.printed.stdout)?.[1] ?? "";
  for (const path of ["/", "/key", "/../key", "/metrics", metrics]) await ask(path);
  seen.push(readFileSync(`/proc/${provider.child.pid}/cmdline`, "utf8"));
  provider.child.kill("SIGTERM");
  expect((await provider.closed)[0]).toBe(0);
  const { stdout, stderr } = provider.printed;
  expect(stdout).toContain("registry_unavailable");
  expect(findLeakedSecrets([...seen, stdout, stderr].join("\n"), SECRETS)).toEqual([]);
});

const { paidInHeader, paidInQuery } = SECRETS;
test.each([
  ["the host", { host: paidInHeader, header: "x", env: paidInQuery }],
  ["the name of its variable", { host: "a.example", header: "x", env: paidInQuery }],
])("a provider that is given a paid API's secret as %s does not show it", async (_, secret) => {
  const result = await runCommand(["check", "--config", configWith({ secrets: [secret] })], ENV);
  expect(result).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(/./) });
  expect(findLeakedSecrets(result.stderr, SECRETS)).toEqual([]);
});
