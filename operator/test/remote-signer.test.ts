import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { GETH_ACCOUNT, GETH_CHAIN_ID, isGethCompiled, startGeth } from "@dataset-oracle/devnet/geth";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { findAccounts } from "@dataset-oracle/service/keys/find-accounts";
import { remoteSigner } from "@dataset-oracle/service/keys/remote-signer";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import {
  type Address,
  type LocalAccount,
  parseGwei,
  parseTransaction,
  type TransactionSerializable,
  type TransactionSerializableEIP1559,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";
import { closeAtEnd } from "./support/close-at-end.js";
import { type OperatorOptions, type RunningOperator, startOperator } from "./support/operator.js";
import { prepareOperator } from "./support/prepare-operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";
import { type StubSigner, startStubSigner } from "./support/stub-signer.js";

const KEY = "SPOTPX/ETH-USD";
const held = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());

const load = (env: Record<string, string>) => remoteSigner("OPERATOR", "").load(env);
const variables = (url: string, change: Record<string, string> = {}) => ({
  OPERATOR_SIGNER_URL: url,
  OPERATOR_SIGNER_ADDRESS: held.address,
  ...change,
});

/** Returns the only account of a signer. */
async function accountOf(url: string, change?: Record<string, string>): Promise<LocalAccount> {
  const [account] = (await load(variables(url, change))).accounts;
  if (account === undefined) throw new Error("There is no account.");
  return account;
}

const CONTENT = { chainId: 42, nonce: 7, to: OTHER_ACCOUNT, data: "0x1234", gas: 50_000n, value: 0n } as const;
const FEES = { maxFeePerGas: parseGwei("3"), maxPriorityFeePerGas: parseGwei("1") };
const TRANSACTION: TransactionSerializableEIP1559 = { ...CONTENT, ...FEES, type: "eip1559" };
const LEGACY: TransactionSerializable = { ...CONTENT, type: "legacy", gasPrice: FEES.maxFeePerGas };

describe("an account whose key a signer holds", () => {
  let signer: StubSigner;

  beforeEach(async () => {
    signer = await startStubSigner(held, 42);
  });

  afterEach(() => signer.close());

  test("asks for a signature as Web3Signer documents it, after it has found itself in the list once", async () => {
    const account = await accountOf(signer.url);
    const signed = await account.signTransaction(TRANSACTION);
    expect(signed).toBe(await held.signTransaction(TRANSACTION));
    expect(await account.signTransaction(LEGACY)).toBe(await held.signTransaction(LEGACY));
    const common = { from: held.address, to: OTHER_ACCOUNT, data: "0x1234", nonce: "0x7", gas: "0xc350", value: "0x0" };
    const fees = { maxFeePerGas: "0xb2d05e00", maxPriorityFeePerGas: "0x3b9aca00" };
    expect(signer.calls).toEqual([
      { method: "eth_accounts", params: [] },
      { method: "eth_signTransaction", params: [{ ...common, ...fees, chainId: "0x2a" }] },
      { method: "eth_signTransaction", params: [{ ...common, gasPrice: "0xb2d05e00", chainId: "0x2a" }] },
    ]);
  });

  test("takes the signed transaction from an object, too, as geth answers", async () => {
    signer.wrap = async (raw) => ({ raw, tx: { nonce: "0x7" } });
    expect(await (await accountOf(signer.url)).signTransaction(TRANSACTION)).toBe(
      await held.signTransaction(TRANSACTION),
    );
  });

  test("signs nothing but transactions", async () => {
    const account = await accountOf(signer.url);
    await expect(account.signMessage({ message: "x" })).rejects.toThrow("signs only transactions");
    expect(signer.calls).toEqual([]);
  });

  const accessList = [{ address: OTHER_ACCOUNT, storageKeys: [] }];

  test.each<[field: string, change: object]>([
    ["chainId", { chainId: 43 }],
    ["nonce", { nonce: 8 }],
    ["to", { to: held.address }],
    ["to", { to: undefined }],
    ["data", { data: "0x1235" }],
    ["data", { data: "0x" }],
    ["gas", { gas: 50_001n }],
    ["value", { value: 1n }],
    ["maxFeePerGas", { maxFeePerGas: parseGwei("4") }],
    ["maxPriorityFeePerGas", { maxPriorityFeePerGas: parseGwei("2") }],
    ["accessList", { accessList }],
    ["type", { ...LEGACY, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }],
  ])("refuses what was signed with another %s: %o", async (field, change) => {
    signer.change = (transaction) => ({ ...transaction, ...change }) as TransactionSerializable;
    await expect((await accountOf(signer.url)).signTransaction(TRANSACTION)).rejects.toThrow(
      new RegExp(`signed another transaction: .*\\b${field}\\b.* differ`),
    );
  });

  test.each<[field: string, change: object]>([
    ["chainId", { chainId: 43 }],
    ["chainId", { chainId: undefined }],
    ["gasPrice", { gasPrice: parseGwei("4") }],
  ])("refuses a legacy transaction that was signed with another %s: %o", async (field, change) => {
    signer.change = (transaction) => ({ ...transaction, ...change }) as TransactionSerializable;
    await expect((await accountOf(signer.url)).signTransaction(LEGACY)).rejects.toThrow(
      new RegExp(`signed another transaction: .*\\b${field}\\b.* differ`),
    );
  });

  test.each<[what: string, fail: () => void, reason: string]>([
    [
      "another account's signature",
      () => Object.assign(signer, { account: stranger }),
      `signed as ${stranger.address}, not as ${held.address}`,
    ],
    ["an unsigned transaction", () => Object.assign(signer, { wrap: async () => "0x02c0" }), "no signed transaction"],
    ["no transaction", () => Object.assign(signer, { wrap: async () => null }), "no signed transaction"],
    ["other hex", () => Object.assign(signer, { wrap: async () => ({ raw: "0x12" }) }), "no signed transaction"],
    ["no JSON", () => answerWith(502, "<html>"), "HTTP 502 without a JSON-RPC answer"],
    ["no result", () => answerWith(401, "{}"), "HTTP 401 without a JSON-RPC answer"],
    [
      "an error",
      () => answerWith(400, JSON.stringify({ error: { code: -32000, message: "locked" } })),
      "answered -32000: locked",
    ],
    [
      "a closed connection",
      () => Object.assign(signer, { fault: (_: unknown, to: Closable) => to.destroy() }),
      "closed",
    ],
    ["a list without it", () => Object.assign(signer, { listed: [stranger.address] }), "does not have"],
  ])("does not sign when the signer answers %s", async (_, fail, reason) => {
    const account = await accountOf(signer.url);
    fail();
    await expect(account.signTransaction(TRANSACTION)).rejects.toThrow(reason);
  });

  interface Closable {
    destroy(): void;
  }

  const answerWith = (status: number, body: string) => {
    signer.fault = (_, response) => void response.writeHead(status).end(body);
  };

  test("does not wait longer than a deadline, and signs once the signer answers again", async () => {
    const account = await accountOf(signer.url);
    signer.fault = () => {};
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout.call(AbortSignal, ms / 50));
    await expect(account.signTransaction(TRANSACTION)).rejects.toThrow("no answer within 5000 ms");
    vi.restoreAllMocks();
    signer.fault = null;
    expect(await account.signTransaction(TRANSACTION)).toBe(await held.signTransaction(TRANSACTION));
  });

  test("trusts the certificate authority that a file names, and by default no other than the usual ones", async () => {
    const authority = createCertificateAuthority();
    const secure = await startStubSigner(held, 42, authority.issue(["localhost"]));
    const url = `https://localhost:${secure.port}/`;
    const account = await accountOf(url, { OPERATOR_SIGNER_CA_FILE: authority.file });
    expect(await account.signTransaction(TRANSACTION)).toBe(await held.signTransaction(TRANSACTION));
    await expect((await accountOf(url)).signTransaction(TRANSACTION)).rejects.toThrow("certificate");
  });

  test("is checked at the start: a missing account is a mistake, a silent signer is none", async () => {
    const { check } = await load(variables(signer.url));
    await check?.();
    signer.listed = [stranger.address];
    const fresh = await load(variables(signer.url));
    await expect(fresh.check?.()).rejects.toThrow(ConfigError);
    await expect(fresh.check?.()).rejects.toThrow(`does not have ${held.address}. Correct OPERATOR_SIGNER_ADDRESS`);
    await signer.close();
    await expect(fresh.check?.()).rejects.not.toThrow(ConfigError);
  });
});

describe("the variables of a signer", () => {
  const find = (env: NodeJS.ProcessEnv, chainId?: number) => findAccounts(env, "OPERATOR", chainId, remoteSigner);
  const URL_WITH_TOKEN = "https://signer.example/canary";

  test("name several accounts, also for one network, and its URL leaves the environment", async () => {
    const env: NodeJS.ProcessEnv = {
      OPERATOR_SIGNER_URL_42: URL_WITH_TOKEN,
      OPERATOR_SIGNER_ADDRESS_42: `${held.address}, ${stranger.address}\n`,
    };
    expect(await find(env)).toBeNull();
    const found = await find(env, 42);
    expect(found?.accounts.map(({ address }) => address)).toEqual([held.address, stranger.address]);
    expect(Object.keys(env)).toEqual(["OPERATOR_SIGNER_ADDRESS_42"]);
  });

  const file = (content: string) => {
    const path = join(mkdtempSync(join(tmpdir(), "signer-")), "file");
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };

  test.each<[mistake: string, change: () => Record<string, string | undefined>, problem: string]>([
    [
      "a key beside it",
      () => ({ OPERATOR_PRIVATE_KEY: generatePrivateKey() }),
      "Both OPERATOR_PRIVATE_KEY and OPERATOR_SIGNER",
    ],
    ["a keystore beside it", () => ({ OPERATOR_KEYSTORE: "canary" }), "Both OPERATOR_KEYSTORE and OPERATOR_SIGNER"],
    [
      "no URL",
      () => ({ OPERATOR_SIGNER_URL: undefined }),
      "needs both OPERATOR_SIGNER_URL and OPERATOR_SIGNER_ADDRESS",
    ],
    ["no address", () => ({ OPERATOR_SIGNER_ADDRESS: undefined }), "needs both"],
    ["another scheme", () => ({ OPERATOR_SIGNER_URL: "ftp://canary" }), "OPERATOR_SIGNER_URL is not a URL"],
    ["a password", () => ({ OPERATOR_SIGNER_URL: "http://me:canary@a" }), "OPERATOR_SIGNER_URL contains a user name"],
    ["no address in it", () => ({ OPERATOR_SIGNER_ADDRESS: "0x12" }), "OPERATOR_SIGNER_ADDRESS: "],
    [
      "an address twice",
      () => ({ OPERATOR_SIGNER_ADDRESS: `${held.address} ${held.address.toLowerCase()}` }),
      "OPERATOR_SIGNER_ADDRESS names the same account twice",
    ],
    [
      "no header in the file",
      () => ({ OPERATOR_SIGNER_AUTHORIZATION_FILE: file("canary\ncanary") }),
      "OPERATOR_SIGNER_AUTHORIZATION_FILE names does not hold the value",
    ],
    ["no certificate in the file", () => ({ OPERATOR_SIGNER_CA_FILE: file("canary") }), "does not hold a certificate"],
    ["a missing file", () => ({ OPERATOR_SIGNER_CA_FILE: "/canary" }), "OPERATOR_SIGNER_CA_FILE names cannot be read"],
  ])("are refused with %s, and nothing of them is shown", async (_, change, problem) => {
    const given = Object.entries({ ...variables(URL_WITH_TOKEN), ...change() });
    const env = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as NodeJS.ProcessEnv;
    const error = await find(env).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain(problem);
    expect(String(error)).not.toContain("canary");
  });
});

describe("an operator whose key a signer holds", () => {
  let chain: Chain;
  let providers: Provider[];
  let dataset: Address;
  let signer: StubSigner;

  beforeAll(async () => {
    [chain, providers, signer] = await Promise.all([startChain(42), startProviders(4), startStubSigner(held, 42)]);
    dataset = await chain.deploy(providers.map(({ address }) => address));
    await chain.fund(held.address);
  });

  afterEach(() => {
    Object.assign(signer, { fault: null, wrap: async (signed: string) => signed });
  });

  const refuse: StubSigner["fault"] = (_, response) =>
    void response.end(JSON.stringify({ error: { code: -32000, message: "locked" } }));

  async function start(options: OperatorOptions = {}, settings: object = {}): Promise<RunningOperator> {
    const account = await accountOf(signer.url);
    return startOperator([{ chain, datasets: [dataset], providers, settings }], { account, ...options });
  }

  const body = (key: string, broadcast = true) => ({ network_id: 42, dataset, key, broadcast });

  test("answers all waiting requests with a problem of its own when nothing is signed, and the nonce stays free", async () => {
    const operator = await start();
    await operator.ask(body(KEY));
    const before = await chain.nonce(held.address);
    signer.fault = refuse;
    const keys = ["SPOTPX/D-USD", "SPOTPX/E-USD", "SPOTPX/F-USD"];
    const problems = await Promise.all(keys.map((key) => operator.askForProblem(body(key))));
    for (const problem of problems) {
      expect(problem).toMatchObject({ http: 503, code: "signer_failed", title: expect.stringContaining("network 42") });
      expect(JSON.stringify(problem)).not.toContain("locked");
    }
    expect((await operator.ask(body(KEY, false))).transaction).toBeDefined();
    signer.fault = null;
    signer.change = (transaction) => ({ ...transaction, value: 1n });
    expect((await operator.askForProblem(body(KEY))).code).toBe("signer_failed");
    signer.change = (transaction) => transaction;
    await operator.ask(body(KEY), { prefer: "wait=20" });
    expect(await chain.nonce(held.address)).toBe(before + 1);
    const log = operator.log.join("");
    expect(log.match(/the signer did not sign a transaction/g)).toHaveLength(1);
    expect(log).toContain("eth_signTransaction: answered -32000: locked");
    expect(log).toContain("the signer signs again");
    await operator.close();
  });

  test("goes on trying to keep its feeds fresh", async () => {
    signer.fault = refuse;
    const key = "SPOTPX/FEED-USD";
    const feed = { dataset, keys: [key], heartbeatSeconds: 60, deviationBps: 10_000, minIntervalSeconds: 1 };
    const operator = await start({}, { feeds: [feed], feedPollMs: 200 });
    await expect.poll(() => operator.log.join("")).toContain('"code":"signer_failed"');
    signer.fault = null;
    await expect.poll(async () => (await chain.query(dataset, key)).status, { timeout: 60_000 }).toBe("OK");
    await operator.close();
  });

  test("goes on trying to replace what an earlier process has sent", async () => {
    const key = "SPOTPX/STUCK-USD";
    await chain.client.setIntervalMining({ interval: 0 });
    const first = await start();
    await first.ask(body(key));
    await first.close();
    signer.fault = refuse;
    const operator = await start({}, { stuckSeconds: 1 });
    await expect.poll(() => operator.log.join("")).toContain("the signer did not sign a transaction");
    signer.fault = null;
    const queue = operator.networks.get(42)?.senders.queues[0];
    await expect.poll(() => queue?.counts.replaced, { timeout: 60_000 }).toBeGreaterThan(0);
    await chain.client.setIntervalMining({ interval: 1 });
    await expect.poll(async () => (await chain.query(dataset, key)).status, { timeout: 60_000 }).toBe("OK");
    await operator.close();
  });

  test("is configured without asking the signer, and starts while the signer is away, but not without the account", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remote-signer-"));
    const path = join(folder, "operator.json");
    const urls = providers.map(({ address, url }) => ({ address, url }));
    const network = { datasets: [dataset], networkId: 42, rpcUrls: [chain.url], providers: urls };
    writeFileSync(path, JSON.stringify({ networks: [network] }));
    const prepare = (url: string, change?: Record<string, string>) =>
      prepareOperator(["--config", path], variables(url, change));
    const asked = signer.calls.length;
    const mistaken = await prepare(signer.url, { OPERATOR_SIGNER_ADDRESS: stranger.address });
    expect(signer.calls.length).toBe(asked);
    await expect(mistaken.connect()).rejects.toThrow(
      `The signer at OPERATOR_SIGNER_URL does not have ${stranger.address}`,
    );

    const port = await freePort();
    const prepared = await prepare(`http://127.0.0.1:${port}/`);
    expect((await prepared.connect()).networks.has(42)).toBe(true);
    expect(prepared.log.join("")).toContain("the signer cannot be asked for its accounts");
    const account = prepared.senders.get(42)?.accounts[0];
    const operator = await startOperator([{ chain, datasets: [dataset], providers }], { account: account ?? held });
    expect(await operator.askForProblem(body(KEY))).toMatchObject({ http: 503, code: "signer_failed" });
    await startStubSigner(held, 42, undefined, port);
    await operator.ask(body(KEY));
    await operator.close();
  });
});

test.skipIf(!isGethCompiled())("geth signs as a signer", async () => {
  const geth = await startGeth();
  closeAtEnd(() => geth.close());
  const account = await accountOf(geth.url, { OPERATOR_SIGNER_ADDRESS: GETH_ACCOUNT });
  for (const transaction of [TRANSACTION, LEGACY]) {
    const asked = { ...transaction, chainId: GETH_CHAIN_ID } as TransactionSerializable;
    const signed = parseTransaction(await account.signTransaction(asked));
    expect(signed).toMatchObject({ chainId: GETH_CHAIN_ID, nonce: 7, gas: 50_000n, type: transaction.type });
  }
  // Geth signs only for its own chain, and says so.
  await expect(account.signTransaction(TRANSACTION)).rejects.toThrow("chainId");
});
