import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { findLeakedSecrets } from "@dataset-oracle/devnet/find-leaked-secrets";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { listen } from "@dataset-oracle/service/http-server/listen";
import { remoteSigner } from "@dataset-oracle/service/keys/remote-signer";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import Fastify from "fastify";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connectEndpoint } from "../src/rpc/endpoint.js";
import { type Chain, startChain } from "./support/chain.js";
import { startOperator } from "./support/operator.js";
import { prepareOperator } from "./support/prepare-operator.js";
import { spawnOperator } from "./support/spawn-operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

const KEY = "SPOTPX/ETH-USD";

const token = () => `canary${randomBytes(12).toString("hex")}`;

/** Only the operator's owner may ever see these. */
const SECRETS = {
  keyInEnvironment: generatePrivateKey(),
  keyInFile: generatePrivateKey(),
  keyInKeystore: generatePrivateKey(),
  keystorePassword: token(),
  tokenInPath: token(),
  tokenInQuery: token(),
  tokenOfVariable: token(),
  encodedToken: encodeURIComponent(`${token()}/+ %`),
  user: token(),
  password: token(),
  signerPath: token(),
  signerQuery: token(),
  signerHeader: token(),
};

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let folder: string;
let rpc: Server;

/** The RPC repeats the request in its answer, as gateways do. */
type Fault = (request: IncomingMessage, response: ServerResponse) => void;
const repeated = ({ url, headers }: IncomingMessage) =>
  `${url} ${decodeURIComponent(url ?? "")} ${JSON.stringify(headers)}`;
const json = (response: ServerResponse, status: number, body: object) =>
  void response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }));
const FAULTS: Record<string, Fault> = {
  "refuses it": (request, response) =>
    json(response, 200, { error: { code: -32000, message: `no: ${repeated(request)}` } }),
  "answers something else": (request, response) => json(response, 200, { result: repeated(request) }),
  "is of another chain": (request, response) => json(response, 200, { result: "0x1", of: repeated(request) }),
  "answers 401": (request, response) => json(response, 401, { error: { code: 401, message: repeated(request) } }),
  "answers 500": (request, response) => void response.writeHead(500).end(repeated(request)),
  "answers a page": (request, response) => void response.writeHead(200).end(`<html>${repeated(request)}`),
  "leads elsewhere": (request, response) => void response.writeHead(302, { location: request.url ?? "/" }).end(),
  "breaks off": (_, response) => void response.destroy(),
  "is not HTTP": (request, response) => void response.socket?.end(`${repeated(request)}\r\n`),
};
let fault: Fault | null = null;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "secrets-"));
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  const financial = { address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: [KEY] };
  writeFileSync(join(folder, "42.json"), JSON.stringify({ chainId: 42, datasets: { financial } }));
  writeFileSync(join(folder, "key"), SECRETS.keyInFile, { mode: 0o600 });
  writeFileSync(join(folder, "password"), `${SECRETS.keystorePassword}\n`, { mode: 0o600 });
  mkdirSync(join(folder, "keystores"));
  const { keyInKeystore, keystorePassword } = SECRETS;
  const keystore = ["--keystore-dir", join(folder, "keystores"), "--unsafe-password", keystorePassword];
  execFileSync(foundryBinary("cast"), ["wallet", "import", "one", "--private-key", keyInKeystore, ...keystore]);
  const keys = [SECRETS.keyInEnvironment, SECRETS.keyInFile, SECRETS.keyInKeystore];
  await Promise.all(keys.map((key) => chain.fund(privateKeyToAccount(key).address)));
  rpc = createServer(async (request, response) => {
    const body = await text(request);
    if (fault !== null) return fault(request, response);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(chain.url, { method: "POST", headers, body, signal: AbortSignal.timeout(5_000) });
    return response.end(await answer.text());
  }).listen(0, "127.0.0.1");
  await once(rpc, "listening");
});

afterAll(async () => {
  rpc?.closeAllConnections();
  rpc?.close();
});

const start = (args: readonly string[], env: Record<string, string>) =>
  spawnOperator(args, { RPC_TOKEN: SECRETS.tokenOfVariable, ...env });

/** The endpoints' URLs, each with a secret in another part. */
function urls(): string[] {
  const { port } = rpc.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  return [
    `${base}/v3/${SECRETS.tokenInPath}`,
    `${base}/?apikey=${SECRETS.tokenInQuery}&x=1`,
    `${base}/${SECRETS.encodedToken}`,
    // Nothing listens there.
    `http://127.0.0.1:1/${SECRETS.tokenInPath}`,
  ];
}

function writeConfig(change: object = {}, network: object = {}): string {
  const [first = ""] = urls();
  const settings = {
    deployment: "42.json",
    rpcUrls: [...urls(), [`${new URL(first).origin}/$`, "{RPC_TOKEN}/rpc"].join("")],
    providers: providers.map(({ address, url }) => ({ address, url })),
    rpcTimeoutMs: 1_000,
    rpcPollMs: 200,
    feeds: [{ dataset, keys: [KEY], heartbeatSeconds: 1, deviationBps: 1, minIntervalSeconds: 1 }],
    feedPollMs: 500,
    ...network,
  };
  const path = join(folder, "operator.json");
  writeFileSync(path, JSON.stringify({ logLevel: "debug", networks: [settings], ...change }));
  return path;
}

test("a running operator shows none of its secrets, whatever fails", async () => {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const { child, output, exited } = start(["--config", writeConfig({ port, metricsPort })], {
    OPERATOR_PRIVATE_KEY: SECRETS.keyInEnvironment,
    OPERATOR_KEYSTORE_42: join(folder, "keystores"),
    OPERATOR_KEYSTORE_42_PASSWORD: SECRETS.keystorePassword,
  });
  const base = `http://127.0.0.1:${port}`;
  const answers: string[] = [];
  /** Sends a request and records the whole answer. */
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${base}${path}`, { ...init, signal: AbortSignal.timeout(20_000) });
    const body = await response.text();
    answers.push(JSON.stringify([...response.headers]), body);
    return { status: response.status, body };
  };
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    ask("/data/request", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const isUp = () =>
    ask("/live").then(
      ({ status }) => status === 200,
      () => false,
    );
  await expect.poll(isUp, { timeout: 60_000 }).toBe(true);

  const request = { network_id: 42, dataset, key: KEY, broadcast: true };
  const sent = await post(request, { prefer: "wait=10" });
  expect(sent.status, sent.body).toBe(200);
  const statuses = new Set<number>();
  for (const name of ["refuses it", "answers 500"] as const) {
    fault = FAULTS[name] ?? null;
    const answered = await Promise.all([
      post(request),
      post({ ...request, key: "SPOTPX/BTC-USD" }, { accept: "text/event-stream" }),
      post({ ...request, key: `SPOTPX/${name.length}-USD`, broadcast: false }),
      ask("/datasets"),
      ask("/ready"),
      ask(`/history?network_id=42&dataset=${dataset}&key=${KEY}`),
    ]);
    for (const { status } of answered) statuses.add(status);
  }
  expect([...statuses]).toEqual(expect.arrayContaining([502, 503]));
  for (const path of ["/", "/openapi.json", "/docs", "/data/request", "/%", "/metrics", "/../operator.json"])
    await ask(path);
  for (const body of ["{", "[]", { ...request, network_id: 1 }, { ...request, dataset: "0x" }]) await post(body);
  for (const provider of providers) provider.behavior = "garbage";
  fault = null;
  await expect.poll(async () => (await ask("/ready")).status, { timeout: 30_000 }).toBe(200);
  expect((await post({ ...request, key: "SPOTPX/LTC-USD" })).status).toBe(503);
  for (const provider of providers) provider.behavior = "honest";

  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { signal: AbortSignal.timeout(5_000) });
  const metrics = await response.text();
  expect(metrics).toContain('operator_rpc_errors_total{network="42",endpoint="rpcUrls/0"');
  const commandLine = readFileSync(`/proc/${child.pid}/cmdline`, "utf8");
  expect(commandLine).toContain("operator.json");
  // A crash shows more than a shutdown.
  child.kill("SIGABRT");
  expect(await exited).toBeNull();

  const log = [output(), ...answers].join("\n");
  for (const failure of ["RPC endpoint failed", "no: "]) expect(log).toContain(failure);
  expect(findLeakedSecrets([log, metrics, commandLine].join("\n"), SECRETS)).toEqual([]);
});

test.each(Object.entries(FAULTS))(
  "the error of an RPC endpoint that %s does not repeat its URL",
  async (_, failing) => {
    fault = failing;
    for (const url of urls()) {
      const calls = ["eth_chainId", "eth_call", "eth_sendRawTransaction"].map((method) =>
        connectEndpoint(42, url, 5_000)
          .request(method, [])
          .then(() => "answered", inspect),
      );
      expect(findLeakedSecrets((await Promise.all(calls)).join("\n"), SECRETS)).toEqual([]);
    }
    fault = null;
  },
);

test("an operator whose signer fails in any way shows neither its URL nor the credential", async () => {
  let failing: Fault | undefined;
  const signer = createServer(async (request, response) => {
    await text(request);
    expect(request.headers.authorization).toBe(`Bearer ${SECRETS.signerHeader}`);
    failing?.(request, response);
  }).listen(0, "127.0.0.1");
  await once(signer, "listening");
  onTestFinished(() => {
    signer.closeAllConnections();
    signer.close();
  });
  writeFileSync(join(folder, "header"), `Bearer ${SECRETS.signerHeader}\n`, { mode: 0o600 });
  const { port } = signer.address() as AddressInfo;
  const { accounts } = await remoteSigner("OPERATOR", "").load({
    OPERATOR_SIGNER_URL: `http://127.0.0.1:${port}/${SECRETS.signerPath}/?apikey=${SECRETS.signerQuery}`,
    OPERATOR_SIGNER_ADDRESS: privateKeyToAccount(SECRETS.keyInFile).address,
    OPERATOR_SIGNER_AUTHORIZATION_FILE: join(folder, "header"),
  });
  const [account] = accounts;
  if (account === undefined) throw new Error("There is no account.");
  const operator = await startOperator([{ chain, datasets: [dataset], providers }], { account });
  const answers: string[] = [];
  for (const fault of Object.values(FAULTS)) {
    failing = fault;
    const problem = await operator.askForProblem({ network_id: 42, dataset, key: KEY, broadcast: true });
    expect([problem.http, problem.code]).toEqual([503, "signer_failed"]);
    answers.push(inspect(problem));
  }
  expect(operator.log.join("")).toContain("the signer did not sign a transaction");
  expect(findLeakedSecrets([...operator.log, ...answers].join("\n"), SECRETS)).toEqual([]);
});

const url = `http://127.0.0.1:8545/${SECRETS.tokenInPath}?apikey=${SECRETS.tokenInQuery}`;
const { keyInFile: key, keystorePassword } = SECRETS;
const feed = { dataset: "0x", keys: [KEY], heartbeatSeconds: 1, deviationBps: 1, minIntervalSeconds: 1 };

const MISPLACED: [what: string, change: object, network?: object][] = [
  ["a user name in an RPC's url", {}, { rpcUrls: [`http://${SECRETS.user}:${SECRETS.password}@127.0.0.1`] }],
  ["an RPC's url without http", {}, { rpcUrls: [url.slice(7)] }],
  ["a key as an RPC's url", {}, { rpcUrls: [key] }],
  ["an RPC's url as the port", { port: url }],
  ["an RPC's url as the deployment", {}, { deployment: url }],
  ["an RPC's url as a provider's address", {}, { providers: [{ address: url, url: "http://a" }] }],
  ["an RPC's url as a feed's key", {}, { feeds: [{ ...feed, keys: [url] }] }],
  ["a key as a provider's address", {}, { providers: [{ address: key, url: "http://a" }] }],
  ["a key as the deployment", {}, { deployment: key.slice(2) }],
  ["a key as a setting", { [key]: 1 }],
];

/** Asserts that a mistake ends the start with an error that repeats none of it. */
async function expectQuietRefusal(refused: Promise<unknown>): Promise<void> {
  const error = await refused.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).not.toBe("");
  expect(findLeakedSecrets(inspect(error), SECRETS)).toEqual([]);
}

test.each(MISPLACED)("the configuration is refused for %s, which is not repeated", async (_, change, network) => {
  await expectQuietRefusal(prepareOperator(["--config", writeConfig(change, network)]));
});

test.each([url, key])("the host is refused if it is a secret, which is not repeated: %#", async (host) => {
  await expectQuietRefusal(listen(Fastify(), { host, port: 0 }));
});

const config = () => ["--config", writeConfig()];

const MISTAKES: [mistake: string, args: () => string[], env?: () => Record<string, string>][] = [
  ["a file with a key as the configuration", () => ["--config", join(folder, "key")]],
  ["a file with a password as the configuration", () => ["--config", join(folder, "password")]],
  ["a configuration that is broken before a secret", brokenConfig],
  ["a key as the configuration", () => ["--config", key]],
  ["a password as an argument", () => [...config(), keystorePassword]],
  ["a password as an option", () => [...config(), `--password=${keystorePassword}`]],
  ["a key as the path of its file", config, () => ({ OPERATOR_PRIVATE_KEY_FILE: key })],
];

function brokenConfig(): string[] {
  const path = join(folder, "broken.json");
  writeFileSync(path, JSON.stringify({ rpcUrls: [url] }).replace('"http', "http"));
  return ["--config", path];
}

test.each(MISTAKES)("%s is refused, and not repeated", async (_, args, env = () => ({})) => {
  await expectQuietRefusal(prepareOperator(args(), { RPC_TOKEN: SECRETS.tokenOfVariable, ...env() }));
});
