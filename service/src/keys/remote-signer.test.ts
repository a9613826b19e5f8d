import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { type Hex, type LocalAccount, parseGwei, type TransactionSerializable } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ConfigError } from "../config/config-error.js";
import { findAccounts } from "./find-accounts.js";
import { remoteSigner } from "./remote-signer.js";

const held = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
/** They are in the URL and in the credential, and nothing may repeat them. */
const SECRETS = ["canary-path", "canary-query", "canary-header"];

const OTHER = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f";
const CONTENT = { chainId: 42, nonce: 7, to: OTHER, data: "0x1234", gas: 50_000n, value: 0n } as const;
const FEES = { maxFeePerGas: parseGwei("3"), maxPriorityFeePerGas: parseGwei("1") };
const TRANSACTION: TransactionSerializable = { ...CONTENT, ...FEES, type: "eip1559" };
const LEGACY: TransactionSerializable = { ...CONTENT, type: "legacy", gasPrice: FEES.maxFeePerGas };

interface SignerCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly Record<string, Hex>[];
}

/** A signer in the form that Web3Signer documents: `eth_accounts`, and `eth_signTransaction` with the result in hex. */
const HONEST = {
  listed: [held.address] as readonly string[] | null,
  account: held as LocalAccount,
  change: (transaction: TransactionSerializable): TransactionSerializable => transaction,
  wrap: (signed: Hex): unknown => signed,
  /** Answers in place of the signer. */
  fault: null as ((request: IncomingMessage, response: ServerResponse) => void) | null,
};
const signer = { ...HONEST, calls: [] as Omit<SignerCall, "id">[] };

async function listener(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, method, params } = (await json(request)) as SignerCall;
  if (signer.fault !== null) return signer.fault(request, response);
  signer.calls.push({ method, params });
  const sign = async () => signer.wrap(await signer.account.signTransaction(signer.change(transactionOf(params[0]))));
  const isUnknown = method === "eth_accounts" && signer.listed === null;
  const error = { code: -32_601, message: "Method not found" };
  const answer = isUnknown ? { error } : { result: method === "eth_accounts" ? signer.listed : await sign() };
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}

function transactionOf(asked: Record<string, Hex> = {}): TransactionSerializable {
  const quantities = ["gas", "value", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas"].flatMap((name) =>
    asked[name] === undefined ? [] : [[name, BigInt(asked[name])]],
  );
  const type = asked.gasPrice === undefined ? "eip1559" : "legacy";
  const { to, data, nonce, chainId } = asked;
  return { to, data, type, nonce: Number(nonce), chainId: Number(chainId), ...Object.fromEntries(quantities) };
}

const server = createServer(listener);
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/canary-path/?apikey=canary-query`;
});

beforeEach(() => {
  Object.assign(signer, HONEST, { calls: [] });
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function file(content: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "signer-")), "file");
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

const variables = (change: Record<string, string> = {}) => ({
  OPERATOR_SIGNER_URL: url,
  OPERATOR_SIGNER_ADDRESS: held.address,
  OPERATOR_SIGNER_AUTHORIZATION_FILE: file("Bearer canary-header\n"),
  ...change,
});
const load = (change?: Record<string, string>) =>
  remoteSigner("OPERATOR", "").load(variables(change), new AbortController().signal);

/** Returns the only account of the signer. */
async function accountOf(change?: Record<string, string>): Promise<LocalAccount> {
  const [account] = (await load(change)).accounts;
  if (account === undefined) throw new Error("There is no account.");
  return account;
}

describe("an account whose key a signer holds", () => {
  test("asks for a signature as Web3Signer documents it, after it has found itself in the list once", async () => {
    const account = await accountOf();
    for (const transaction of [TRANSACTION, LEGACY]) {
      expect(await account.signTransaction(transaction)).toBe(await held.signTransaction(transaction));
    }
    const common = { from: held.address, to: OTHER, data: "0x1234", nonce: "0x7", gas: "0xc350", value: "0x0" };
    const fees = { maxFeePerGas: "0xb2d05e00", maxPriorityFeePerGas: "0x3b9aca00" };
    expect(signer.calls).toEqual([
      { method: "eth_accounts", params: [] },
      { method: "eth_signTransaction", params: [{ ...common, ...fees, chainId: "0x2a" }] },
      { method: "eth_signTransaction", params: [{ ...common, gasPrice: "0xb2d05e00", chainId: "0x2a" }] },
    ]);
    // Geth answers with an object.
    signer.wrap = (raw) => ({ raw, tx: { nonce: "0x7" } });
    expect(await account.signTransaction(TRANSACTION)).toBe(await held.signTransaction(TRANSACTION));
  });

  test("that only signs, and lists no accounts, is used with the address that is configured", async () => {
    signer.listed = null;
    await (await load()).check?.();
    expect(await (await accountOf()).signTransaction(TRANSACTION)).toBe(await held.signTransaction(TRANSACTION));
  });

  test("signs nothing but transactions", async () => {
    await expect((await accountOf()).signMessage({ message: "x" })).rejects.toThrow("signs only transactions");
    expect(signer.calls).toEqual([]);
  });

  test.each<[field: string, change: object, asked?: TransactionSerializable]>([
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
    ["accessList", { accessList: [{ address: OTHER, storageKeys: [] }] }],
    ["type", { ...LEGACY, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }],
    ["chainId", { chainId: 43 }, LEGACY],
    ["chainId", { chainId: undefined }, LEGACY],
    ["gasPrice", { gasPrice: parseGwei("4") }, LEGACY],
  ])("refuses what was signed with another %s: %o", async (field, change, asked = TRANSACTION) => {
    signer.change = (transaction) => ({ ...transaction, ...change }) as TransactionSerializable;
    await expect((await accountOf()).signTransaction(asked)).rejects.toThrow(
      new RegExp(`signed another transaction: .*\\b${field}\\b.* differ`),
    );
  });

  /** It repeats the request, as gateways do. */
  const answering = (status: number, body: (repeated: string) => string): Partial<typeof HONEST> => ({
    fault: (request, response) =>
      void response.writeHead(status).end(body(`${request.url} ${JSON.stringify(request.headers)}`)),
  });

  test.each<[what: string, change: Partial<typeof HONEST>, reason: string]>([
    ["another account's signature", { account: stranger }, `signed as ${stranger.address}, not as ${held.address}`],
    ["an unsigned transaction", { wrap: () => "0x02c0" }, "no signed transaction"],
    ["no transaction", { wrap: () => null }, "no signed transaction"],
    ["other hex", { wrap: () => ({ raw: "0x12" }) }, "no signed transaction"],
    ["no JSON", answering(502, (repeated) => repeated), "HTTP 502 without a usable answer"],
    ["no result", answering(401, () => "{}"), "HTTP 401 without a usable answer"],
    [
      "an error",
      answering(400, (repeated) => JSON.stringify({ error: { code: -32000, message: `locked ${repeated}` } })),
      "answered -32000: locked",
    ],
    ["a closed connection", { fault: (_, response) => void response.destroy() }, "UND_ERR_SOCKET"],
    ["a list without it", { listed: [stranger.address] }, "does not have"],
  ])("does not sign when the signer answers %s, and repeats neither URL nor credential", async (_, change, reason) => {
    const account = await accountOf();
    Object.assign(signer, change);
    const error = await account.signTransaction(TRANSACTION).catch(String);
    expect(error).toContain(reason);
    for (const secret of SECRETS) expect(error).not.toContain(secret);
  });

  test("does not wait longer than a deadline, and signs once the signer answers again", async () => {
    const account = await accountOf();
    signer.fault = () => {};
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout.call(AbortSignal, ms / 50));
    onTestFinished(() => void vi.restoreAllMocks());
    await expect(account.signTransaction(TRANSACTION)).rejects.toThrow("no answer within 5000 ms");
    vi.restoreAllMocks();
    signer.fault = null;
    expect(await account.signTransaction(TRANSACTION)).toBe(await held.signTransaction(TRANSACTION));
  });

  test("trusts the certificate authority that a file names, and by default no other than the usual ones", async () => {
    const authority = createCertificateAuthority();
    const secure = createTlsServer({ ...authority.issue(["localhost"]) }, listener);
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void secure.close());
    const own = { OPERATOR_SIGNER_URL: `https://localhost:${(secure.address() as AddressInfo).port}/` };
    const account = await accountOf({ ...own, OPERATOR_SIGNER_CA_FILE: authority.file });
    expect(await account.signTransaction(TRANSACTION)).toBe(await held.signTransaction(TRANSACTION));
    await expect((await accountOf(own)).signTransaction(TRANSACTION)).rejects.toThrow(
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    );
  });

  test("is checked at the start: a missing account is a mistake, a silent signer is none", async () => {
    await (await load()).check?.();
    const fresh = await load();
    signer.listed = [stranger.address];
    await expect(fresh.check?.()).rejects.toThrow(ConfigError);
    await expect(fresh.check?.()).rejects.toThrow(`does not have ${held.address}. Correct OPERATOR_SIGNER_ADDRESS`);
    signer.fault = (_, response) => void response.destroy();
    await expect(fresh.check?.()).rejects.not.toThrow(ConfigError);
  });
});

describe("the variables of a signer", () => {
  const find = (env: NodeJS.ProcessEnv, chainId?: number) =>
    findAccounts(env, { name: "OPERATOR", signs: "transactions" }, chainId);
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

  test.each<[mistake: string, change: Record<string, string | (() => string) | undefined>, problem: string]>([
    ["a key beside it", { OPERATOR_PRIVATE_KEY: generatePrivateKey }, "Both OPERATOR_PRIVATE_KEY and OPERATOR_SIGNER"],
    ["a keystore beside it", { OPERATOR_KEYSTORE: "canary" }, "Both OPERATOR_KEYSTORE and OPERATOR_SIGNER"],
    ["no URL", { OPERATOR_SIGNER_URL: undefined }, "needs both OPERATOR_SIGNER_URL and OPERATOR_SIGNER_ADDRESS"],
    ["no address", { OPERATOR_SIGNER_ADDRESS: undefined }, "needs both"],
    ["another scheme", { OPERATOR_SIGNER_URL: "ftp://canary" }, "OPERATOR_SIGNER_URL is not a URL"],
    ["no address in it", { OPERATOR_SIGNER_ADDRESS: "0x12" }, "OPERATOR_SIGNER_ADDRESS: "],
    [
      "an address twice",
      { OPERATOR_SIGNER_ADDRESS: `${held.address} ${held.address.toLowerCase()}` },
      "OPERATOR_SIGNER_ADDRESS names the same account twice",
    ],
    [
      "no header in the file",
      { OPERATOR_SIGNER_AUTHORIZATION_FILE: () => file("canary\ncanary") },
      "OPERATOR_SIGNER_AUTHORIZATION_FILE names does not hold the value",
    ],
    ["no certificate", { OPERATOR_SIGNER_CA_FILE: () => file("canary") }, "does not hold a certificate"],
    ["a missing file", { OPERATOR_SIGNER_CA_FILE: "/canary" }, "OPERATOR_SIGNER_CA_FILE names cannot be read"],
  ])("are refused with %s, and nothing of them is shown", async (_, change, problem) => {
    const given: typeof change = { ...variables({ OPERATOR_SIGNER_URL: URL_WITH_TOKEN }), ...change };
    const values = Object.entries(given).map(([name, value]) => [name, typeof value === "function" ? value() : value]);
    const error = await find(Object.fromEntries(values.filter(([, value]) => value !== undefined))).catch(
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain(problem);
    expect(String(error)).not.toContain("canary");
  });
});
