import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { findLeakedSecrets } from "@dataset-oracle/devnet/find-leaked-secrets";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeExchanges, json, startFakeExchanges } from "./support/fake-exchanges.js";
import { runProvider, spawnProvider, untilListening, writeConfig } from "./support/provider-process.js";
import { runCommand } from "./support/run-command.js";
import { DATASET, ETH_USD } from "./support/test-provider.js";

const WEB = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const REGISTRY = "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0";
const token = () => `canary${randomBytes(12).toString("hex")}`;

/** Everything that only the provider's owner may see. */
const SECRETS = {
  keyInEnvironment: generatePrivateKey(),
  keyInFile: generatePrivateKey(),
  keyInKeystore: generatePrivateKey(),
  keystorePassword: token(),
  rpcToken: `${token()}%2F%2B`,
  rpcTokenOfVariable: token(),
  paidInHeader: token(),
  paidInQuery: token(),
};

/** How the RPC answers: it repeats what it was asked with, as gateways do. */
type Fault = (request: IncomingMessage, response: ServerResponse) => void;
const repeated = ({ url, headers }: IncomingMessage) =>
  `${url} ${decodeURIComponent(url ?? "")} ${JSON.stringify(headers)}`;
const answer = (body: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, ...body });
const FAULTS: Record<string, Fault> = {
  "refuses it": (request, response) =>
    void response.end(answer({ error: { code: -32000, message: repeated(request) } })),
  "answers something else": (request, response) => void response.end(answer({ result: repeated(request) })),
  "is of another chain": (request, response) => void response.end(answer({ result: "0x1", of: repeated(request) })),
  "answers 401": (request, response) => void response.writeHead(401).end(repeated(request)),
  "answers a page": (request, response) => void response.writeHead(200).end(`<html>${repeated(request)}`),
  "leads elsewhere": (request, response) => void response.writeHead(302, { location: `${request.url}` }).end(),
  "breaks off": (_, response) => void response.destroy(),
};

let exchanges: FakeExchanges;
let rpc: Server;
let fault: Fault = () => {};
let config: string;
let folder: string;

beforeAll(async () => {
  exchanges = await startFakeExchanges();
  rpc = createServer((request, response) => fault(request, response)).listen(0, "127.0.0.1");
  await once(rpc, "listening");
  const base = `http://127.0.0.1:${(rpc.address() as AddressInfo).port}`;
  ({ folder, config } = writeConfig({
    redirectedOrigins: exchanges.redirectedOrigins,
    deployments: ["42.json", "43.json"],
    evidence: { folder: "evidence", maxMegabytes: 1 },
    webOracle: {
      rpcUrls: { 42: `${base}/v3/${SECRETS.rpcToken}`, 43: `${base}/?key=\${RPC_TOKEN}` },
      folder: "specs",
      hosts: "any",
    },
    secrets: [
      { host: "api.paid.example", header: "x-api-key", file: "paid" },
      { host: "api.paid.example", query: "key", env: "PAID" },
    ],
  }));
  const financial = { address: DATASET, kind: "median", keyForm: "SPOT_PRICE", keys: ["SPOTPX/ETH-USD"] };
  const web = { address: WEB, kind: "median", keyForm: "WEB_ORACLE", keys: [] };
  for (const chainId of [42, 43]) {
    const deployment = { chainId, datasets: { financial, web }, webOracleRegistry: REGISTRY };
    writeFileSync(join(folder, `${chainId}.json`), JSON.stringify(deployment));
  }
  writeFileSync(join(folder, "paid"), SECRETS.paidInHeader, { mode: 0o600 });
  writeFileSync(join(folder, "key"), SECRETS.keyInFile, { mode: 0o600 });
  writeFileSync(join(folder, "password"), SECRETS.keystorePassword, { mode: 0o600 });
  const keystore = ["--keystore-dir", folder, "--unsafe-password", SECRETS.keystorePassword];
  execFileSync(foundryBinary("cast"), [
    "wallet",
    "import",
    "keystore",
    "--private-key",
    SECRETS.keyInKeystore,
    ...keystore,
  ]);
});
afterAll(async () => {
  rpc.closeAllConnections();
  rpc.close();
  await exchanges.close();
});

const COMMON = { RPC_TOKEN: SECRETS.rpcTokenOfVariable, PAID: SECRETS.paidInQuery };
const keystore = () => ({ PROVIDER_KEYSTORE: join(folder, "keystore") });

describe("a provider shows none of its secrets", () => {
  it("while it runs, whatever fails", async () => {
    const env = { ...COMMON, ...keystore(), PROVIDER_KEYSTORE_PASSWORD: SECRETS.keystorePassword };
    const provider = spawnProvider(["serve", "--config", config], env);
    const url = await untilListening(provider);
    const seen: string[] = [];
    const ask = async (path: string, body?: unknown) => {
      const response = await fetch(`${url}${path}`, {
        signal: AbortSignal.timeout(60_000),
        ...(body !== undefined && {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
      });
      const text = await response.text();
      seen.push(JSON.stringify([...response.headers]), text);
      return { status: response.status, text };
    };
    const { address } = privateKeyToAccount(SECRETS.keyInKeystore);
    expect(provider.printed.stdout).toContain(address);
    await expect.poll(async () => (await ask("/ready")).status, { timeout: 60_000 }).toBe(200);
    exchanges.quote("100", "100", "100", Math.floor(Date.now() / 1_000));
    const now = () => Math.floor(Date.now() / 1_000) - 1;
    const price = { network_id: 42, dataset: DATASET, key: ETH_USD };
    expect(await ask("/report", { ...price, timestamp: now() })).toMatchObject({ status: 200 });
    exchanges.behave("kraken", json("{}", 500));
    exchanges.behave("coinbase", (response) => response.destroy());
    await ask("/report", { ...price, timestamp: now() + 1 });

    const codes = new Set<string>();
    for (const [name, behaviour] of Object.entries(FAULTS)) {
      fault = behaviour;
      for (const network_id of [42, 43]) {
        const key = stringToHex(`WEB/${Buffer.from(name.padEnd(32)).toString("hex")}`);
        const { text } = await ask("/report", { network_id, dataset: WEB, key, timestamp: now() });
        codes.add(JSON.parse(text).code);
      }
    }
    expect([...codes]).toEqual(["registry_unavailable"]);
    for (const body of ["{", [], { ...price, dataset: WEB }, { ...price, network_id: 1 }]) await ask("/report", body);
    for (const path of ["/", "/key", "/../key", "/metrics"]) await ask(path);

    const metricsUrl = /metrics for Prometheus at (http:[^"]+)"/.exec(provider.printed.stdout)?.[1] ?? "";
    seen.push(await (await fetch(metricsUrl, { signal: AbortSignal.timeout(60_000) })).text());
    seen.push(readFileSync(`/proc/${provider.child.pid}/cmdline`, "utf8"));
    provider.child.kill("SIGTERM");
    expect((await provider.closed)[0]).toBe(0);
    const { stdout, stderr } = provider.printed;
    expect(stdout).toContain("registry_unavailable");
    expect(findLeakedSecrets([...seen, stdout, stderr].join("\n"), SECRETS)).toEqual([]);
  });

  function changed(change: object): string {
    const path = join(folder, "changed.json");
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), ...change }));
    return path;
  }
  const { keystorePassword, keyInEnvironment, paidInHeader, paidInQuery } = SECRETS;
  const inFile = () => ({ PROVIDER_PRIVATE_KEY_FILE: join(folder, "key") });

  it.each<[mistake: string, file: () => string, env: () => Record<string, string>, args?: string[]]>([
    ["a key and a keystore", () => config, () => ({ PROVIDER_PRIVATE_KEY: keyInEnvironment, ...keystore() })],
    [
      "a password that is not the keystore's",
      () => config,
      () => ({ ...keystore(), PROVIDER_KEYSTORE_PASSWORD: `${keystorePassword}0` }),
    ],
    ["a password as an argument", () => config, () => ({}), [keystorePassword]],
    ["a file with a key as the configuration", () => join(folder, "key"), () => ({})],
    [
      "a paid API's secret in the configuration",
      () => changed({ secrets: [{ host: paidInHeader, header: "x", env: paidInQuery }] }),
      () => ({}),
    ],
    [
      "a paid API's secret as the name of its variable",
      () => changed({ secrets: [{ host: "a.example", header: "x", env: paidInQuery }] }),
      () => ({}),
    ],
    [
      "an RPC's url as the folder of the lease",
      () => changed({ lease: `http://127.0.0.1/${SECRETS.rpcToken}/lease` }),
      inFile,
    ],
  ])("when it is given %s", async (_, file, env, args = []) => {
    const result = await runCommand(["check", "--config", file(), ...args], { ...COMMON, ...env() });
    expect(result).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(/./) });
    expect(findLeakedSecrets(result.stderr, SECRETS)).toEqual([]);
  });

  it("when it is given an RPC's url as the host to listen on", async () => {
    const file = changed({ host: `http://127.0.0.1/${SECRETS.rpcToken}` });
    const { code, stdout, stderr } = await runProvider(["serve", "--config", file], { ...COMMON, ...inFile() });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/./)]);
    expect(findLeakedSecrets(stdout + stderr, SECRETS)).toEqual([]);
  });
});
