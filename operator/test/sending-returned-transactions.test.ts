import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { connect, createConfig, mock, sendTransaction } from "@wagmi/core";
import { JsonRpcProvider, Wallet } from "ethers";
import { createWalletClient, type Hex, http } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { Web3 } from "web3";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

type Unsent = Required<Pick<DataAnswer, "transaction" | "transaction_request">>;
/** Sends what an operator returned, as its JSON was parsed, and returns the hash. */
type Send = (unsent: Unsent) => Promise<string>;

const runFile = promisify(execFile);
const privateKey = generatePrivateKey();

let chain: Chain;
let providers: Provider[];
let operator: RunningOperator;
let dataset: Hex;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  await chain.fund(privateKeyToAccount(privateKey).address);
  operator = await startOperator([{ chain, datasets: [dataset], providers }]);
});

const node: Send = ({ transaction }) =>
  chain.client.request({
    method: "eth_sendTransaction",
    params: [{ from: OTHER_ACCOUNT, ...transaction }],
  } as never) as Promise<string>;

const cast: Send = async ({ transaction: { to, data, value, gas, chainId } }) => {
  const options = ["--value", value, "--gas-limit", gas, "--chain", String(Number(chainId))];
  const wallet = ["--private-key", privateKey, "--rpc-url", chain.url];
  const { stdout } = await runFile(foundryBinary("cast"), ["send", to, data, ...options, ...wallet, "--json"]);
  return JSON.parse(stdout).transactionHash;
};

/** Runs work with an ethers provider, which polls until it is destroyed. */
async function withEthers<T>(work: (provider: JsonRpcProvider) => Promise<T>): Promise<T> {
  const provider = new JsonRpcProvider(chain.url);
  try {
    return await work(provider);
  } finally {
    provider.destroy();
  }
}

const ethersWallet: Send = ({ transaction_request: request }) =>
  withEthers(async (provider) => (await new Wallet(privateKey, provider).sendTransaction(request)).hash);

const ethersSigner: Send = ({ transaction_request: request }) =>
  withEthers(async (provider) => {
    const signer = await provider.getSigner(OTHER_ACCOUNT);
    return (await signer.sendTransaction(request)).hash;
  });

const ethersWithTransaction: Send = ({ transaction }) =>
  withEthers(async (provider) => (await new Wallet(privateKey, provider).sendTransaction(transaction)).hash);

const viem =
  (account: "local" | "JSON-RPC"): Send =>
  ({ transaction_request: request }) =>
    createWalletClient({
      account: account === "local" ? privateKeyToAccount(privateKey) : OTHER_ACCOUNT,
      chain: chain.client.chain,
      transport: http(chain.url),
    }).sendTransaction(request as never);

/** Signs without asking the node, so that the chain id is the request's. */
const viemOffline: Send = async ({ transaction_request: request }) => {
  const account = privateKeyToAccount(privateKey);
  const nonce = await chain.nonce(account.address);
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
  const serializedTransaction = await account.signTransaction({ ...request, nonce, ...fees } as never);
  return chain.client.sendRawTransaction({ serializedTransaction });
};

const wagmi: Send = async ({ transaction_request: request }) => {
  const connector = mock({ accounts: [OTHER_ACCOUNT] });
  const transports = { [chain.chainId]: http(chain.url) };
  const config = createConfig({ chains: [chain.client.chain], connectors: [connector], transports, storage: null });
  await connect(config, { connector });
  return sendTransaction(config, request as never);
};

const web3 =
  (account: "local" | "JSON-RPC"): Send =>
  async ({ transaction_request: request }) => {
    const client = new Web3(chain.url);
    if (account === "local") client.eth.accounts.wallet.add(privateKey);
    const from = account === "local" ? privateKeyToAccount(privateKey).address : OTHER_ACCOUNT;
    return String((await client.eth.sendTransaction({ from, ...request })).transactionHash);
  };

test.each<[client: string, key: string, send: Send]>([
  ["a node, by eth_sendTransaction", "A", node],
  ["cast", "B", cast],
  ["ethers with a local wallet", "C", ethersWallet],
  ["ethers with the node's account", "D", ethersSigner],
  ["ethers, given what is for nodes", "E", ethersWithTransaction],
  ["viem with a local account", "F", viem("local")],
  ["viem with the node's account", "G", viem("JSON-RPC")],
  ["viem, signing offline", "H", viemOffline],
  ["wagmi", "I", wagmi],
  ["web3.js with a local account", "J", web3("local")],
  ["web3.js with the node's account", "K", web3("JSON-RPC")],
])("the returned transaction can be sent unedited by %s", async (_, name, send) => {
  const key = `SPOTPX/${name}-USD`;
  const answer = await operator.ask({ network_id: 42, dataset, key, broadcast: false });
  const hash = (await send(answer as DataAnswer & Unsent)) as Hex;
  await chain.wait(hash);

  const { value, timestamp, transaction } = answer;
  expect(await chain.query(dataset, key)).toEqual({ value: BigInt(value), updatedAt: BigInt(timestamp), status: "OK" });
  // Every client uses the operator's gas limit, and no estimate of its own.
  const sent = await chain.client.getTransaction({ hash });
  expect([sent.chainId, sent.gas]).toEqual([42, BigInt(transaction?.gas ?? 0)]);
});
