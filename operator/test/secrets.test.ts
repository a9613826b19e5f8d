import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { findLeakedSecrets } from "@dataset-oracle/devnet/test-support/find-leaked-secrets";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { RpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { connectEndpoint } from "../src/rpc/endpoint.js";
import { startCommittee } from "./support/committee.js";
import { prepareOperator } from "./support/prepare-operator.js";
import { spawnOperator } from "./support/spawn-operator.js";

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
  header: token(),
};
const basic = Buffer.from(`${SECRETS.user}:${SECRETS.password}`).toString("base64");
const { keyInEnvironment, keyInFile, keyInKeystore, keystorePassword } = SECRETS;

/** An RPC that repeats the request in its answer, as gateways do. */
type SecretFault = (request: IncomingMessage, response: ServerResponse) => void;
const repeated = ({ url, headers }: IncomingMessage) =>
  `${url} ${decodeURIComponent(url ?? "")} ${JSON.stringify(headers)}`;
const answering =
  (status: number, body: (repeated: string) => object): SecretFault =>
  (request, response) =>
    void response.writeHead(status).end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...body(repeated(request)) }));
const FAULTS: Record<string, SecretFault> = {
  "refuses it": answering(200, (what) => ({ error: { code: -32_000, message: `no: ${what}` } })),
  "answers something else": answering(200, (what) => ({ result: what })),
  "answers 401": answering(401, (what) => ({ error: { code: 401, message: what } })),
  "answers 500": (request, response) => void response.writeHead(500).end(repeated(request)),
  "leads elsewhere": (request, response) => void response.writeHead(302, { location: request.url ?? "/" }).end(),
  "breaks off": (_, response) => void response.destroy(),
  "is not HTTP": (request, response) => void response.socket?.end(`${repeated(request)}\r\n`),
};
let fault: SecretFault | null = null;

const { chain, providers, dataset, body } = await startCommittee(4);
const folder = mkdtempSync(join(tmpdir(), "secrets-"));
/** What endpoints were given to know the caller by. */
const credentials = new Set<string | string[] | undefined>();
const { url: base, close } = await startLocalServer(async (request, response) => {
  const body = await text(request);
  credentials.add(request.headers.authorization).add(request.headers["x-api-key"]);
  if (fault !== null) return fault(request, response);
  const headers = { "content-type": "application/json" };
  const answer = await fetch(chain.url, { method: "POST", headers, body });
  return response.end(await answer.text());
});
closeAtEnd(close);
/** The endpoints, each with a secret in another part. */
const urls: RpcEndpoint[] = [
  `${base}/v3/${SECRETS.tokenInPath}`,
  `${base}/?apikey=${SECRETS.tokenInQuery}&x=1`,
  `${base}/${SECRETS.encodedToken}`,
  base.replace("//", `//${SECRETS.user}:${SECRETS.password}@`),
  { url: base, headers: { "x-api-key": SECRETS.header } },
  // Nothing listens there.
  `http://127.0.0.1:1/${SECRETS.tokenInPath}`,
];
const feed = { dataset, keys: [KEY], heartbeatSeconds: 1, deviationBps: 1, minIntervalSeconds: 1 };

function writeConfig(network: object = {}, change: object = {}): string {
  const settings = {
    ...{ datasets: [dataset], networkId: 42, rpcUrls: [...urls, [`${base}/$`, "{RPC_TOKEN}/rpc"].join("")] },
    providers: providers.map(({ address, url }) => ({ address, url })),
    ...{ rpcTimeoutMs: 10_000, rpcPollMs: 200, feeds: [feed], feedPollMs: 500 },
    ...network,
  };
  const path = join(folder, "operator.json");
  writeFileSync(path, JSON.stringify({ logLevel: "debug", networks: [settings], ...change }));
  return path;
}

test("a running operator shows none of its secrets, whatever fails", async () => {
  const keystore = ["--keystore-dir", join(folder, "keystores"), "--unsafe-password", keystorePassword];
  mkdirSync(join(folder, "keystores"));
  execFileSync(foundryBinary("cast"), ["wallet", "import", "one", "--private-key", keyInKeystore, ...keystore]);
  await chain.fund(privateKeyToAccount(keyInKeystore).address);
  const [port, metricsPort] = [await freePort(), await freePort()];
  const { child, output, exited } = spawnOperator(["--config", writeConfig({}, { port, metricsPort })], {
    RPC_TOKEN: SECRETS.tokenOfVariable,
    OPERATOR_PRIVATE_KEY: keyInEnvironment,
    OPERATOR_KEYSTORE_42: join(folder, "keystores"),
    OPERATOR_KEYSTORE_42_PASSWORD: keystorePassword,
  });
  const shown: string[] = [];
  /** Sends a request and records the whole answer. */
  const ask = async (path: string, init: RequestInit = {}, at = port) => {
    const response = await fetch(`http://127.0.0.1:${at}${path}`, init);
    shown.push(JSON.stringify([...response.headers]), await response.text());
    return response.status;
  };
  const post = (body: unknown, more: Record<string, string> = {}) => {
    const headers = { "content-type": "application/json", ...more };
    return ask("/data/request", { method: "POST", headers, body: JSON.stringify(body) });
  };
  const isReady = () => ask("/ready").then((status) => status === 200, output);
  await expect.poll(isReady).toBe(true);
  expect(await post(body(KEY), { prefer: "wait=10" })).toBe(200);
  expect([...credentials]).toEqual(expect.arrayContaining([`Basic ${basic}`, SECRETS.header]));

  for (const name of ["refuses it", "answers 500"] as const) {
    fault = FAULTS[name] ?? null;
    const statuses = await Promise.all([
      post(body(KEY)),
      post(body("SPOTPX/BTC-USD"), { accept: "text/event-stream" }),
      post(body("SPOTPX/SOL-USD", false)),
      ask("/datasets"),
      ask("/ready"),
      ask(`/history?network_id=42&dataset=${dataset}&key=${KEY}`),
    ]);
    expect(statuses.filter((status) => status >= 500).length).toBeGreaterThan(1);
  }
  for (const path of ["/", "/openapi.json", "/%", "/metrics", "/../operator.json"]) await ask(path);
  for (const wrong of ["{", [], body(KEY, true, { network_id: 1 })]) await post(wrong);
  await ask("/metrics", {}, metricsPort);
  // A crash shows more than a shutdown.
  child.kill("SIGABRT");
  expect(await exited).toBeNull();
  fault = null;

  const all = [output(), ...shown].join("\n");
  for (const failure of ["RPC endpoint failed", "no: ", "operator_rpc_errors_total{"]) expect(all).toContain(failure);
  expect(findLeakedSecrets(all, { ...SECRETS, basic })).toEqual([]);
});

test("the errors of RPC endpoints do not repeat their URLs, however they fail", async () => {
  for (const failing of Object.values(FAULTS)) {
    fault = failing;
    const calls = urls.map((url) =>
      connectEndpoint(42, url, 5_000, {
        clock: SYSTEM_CLOCK,
        closing: new AbortController().signal,
        dispatcher: TRUSTED_CONNECTIONS,
      })
        .request("eth_chainId", [])
        .then(() => "answered", inspect),
    );
    expect(findLeakedSecrets((await Promise.all(calls)).join("\n"), { ...SECRETS, basic })).toEqual([]);
  }
  fault = null;
});

const url = `http://127.0.0.1:8545/${SECRETS.tokenInPath}?apikey=${SECRETS.tokenInQuery}`;

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

test.each<[what: string, config: () => string, env?: Record<string, string>]>([
  [
    "a header of an RPC in two lines",
    () => writeConfig({ rpcUrls: [{ url: base, headers: { "x-api-key": `${SECRETS.header}\n` } }] }),
  ],
  [
    "a header of an RPC by the name of its value",
    () => writeConfig({ rpcUrls: [{ url: base, headers: { [`${SECRETS.header}:`]: "x" } }] }),
  ],
  ["an RPC's url without http", () => writeConfig({ rpcUrls: [url.slice(7)] })],
  ["a key as an RPC's url", () => writeConfig({ rpcUrls: [keyInFile] })],
  ["an RPC's url as the port", () => writeConfig({}, { port: url })],
  ["an RPC's url as the deployment", () => writeConfig({ datasets: undefined, deployment: url })],
  ["an RPC's url as a provider's address", () => writeConfig({ providers: [{ address: url, url: "http://a" }] })],
  ["an RPC's url as a feed's key", () => writeConfig({ feeds: [{ ...feed, keys: [url] }] })],
  ["a file with a key as the configuration", () => file("key", keyInFile)],
  ["a file with a password as the configuration", () => file("password", `${keystorePassword}\n`)],
  [
    "a configuration that is broken before a secret",
    () => file("broken.json", JSON.stringify({ rpcUrls: [url] }).replace('"http', "http")),
  ],
  ["a key as the path of its file", () => writeConfig(), { OPERATOR_PRIVATE_KEY_FILE: keyInFile }],
])("%s is refused, and not repeated", async (_, config, env = {}) => {
  const prepared = prepareOperator(["--config", config()], { RPC_TOKEN: SECRETS.tokenOfVariable, ...env });
  const error = await prepared.then(({ connect }) => connect()).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect(findLeakedSecrets(inspect(error), SECRETS)).toEqual([]);
});
