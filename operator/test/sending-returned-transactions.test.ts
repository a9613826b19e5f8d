import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { connect, createConfig, mock, sendTransaction } from "@wagmi/core";
import { JsonRpcProvider, Wallet } from "ethers";
import { createWalletClient, type Hex, http } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { Web3 } from "web3";
import { type Chain, chainOf } from "./support/chain.js";
import { type ChainName, chainIdOf, isInstalled, startDevelopmentChain } from "./support/development-chains.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

type Unsent = Required<Pick<DataAnswer, "transaction" | "transaction_request">>;
/** Sends what an operator returned, as its JSON was parsed, and returns the hash. */
type Send = (unsent: Unsent) => Promise<string>;

/** What is for nodes, in the place of what is for libraries. */
const givenTheOther =
  (send: Send): Send =>
  ({ transaction }) =>
    send({ transaction, transaction_request: transaction as never });

const runFile = promisify(execFile);
const privateKey = generatePrivateKey();

let chain: Chain;
let providers: Provider[];
let operator: RunningOperator;
let dataset: Hex;

const node: Send = ({ transaction }) =>
  chain.client.request({
    method: "eth_sendTransaction",
    params: [{ from: chain.otherAccount, ...transaction }],
  } as never) as Promise<string>;

const cast: Send = async ({ transaction: { to, data, gas, chainId } }) => {
  const options = ["--gas-limit", gas, "--chain", String(Number(chainId))];
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
    const signer = await provider.getSigner(chain.otherAccount);
    return (await signer.sendTransaction(request)).hash;
  });

const viem =
  (account: "local" | "JSON-RPC"): Send =>
  ({ transaction_request: request }) =>
    createWalletClient({
      account: account === "local" ? privateKeyToAccount(privateKey) : chain.otherAccount,
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
  const connector = mock({ accounts: [chain.otherAccount] });
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
    const from = account === "local" ? privateKeyToAccount(privateKey).address : chain.otherAccount;
    return String((await client.eth.sendTransaction({ from, ...request })).transactionHash);
  };

describe.each<ChainName>(["anvil", "geth"])("on %s", (name) => {
  describe.skipIf(!isInstalled(name))("the returned transaction", () => {
    beforeAll(async () => {
      providers = await startProviders(4);
      chain = chainOf(await startDevelopmentChain(name), chainIdOf(name));
      dataset = await chain.deploy(providers.map(({ address }) => address));
      await chain.fund(privateKeyToAccount(privateKey).address);
      operator = await startOperator([{ chain, datasets: [dataset], providers }]);
    });

    test.each<[client: string, key: string, send: Send]>([
      ["a node, by eth_sendTransaction", "A", node],
      ["cast", "B", cast],
      ["ethers with a local wallet", "C", ethersWallet],
      ["ethers with the node's account", "D", ethersSigner],
      ["viem with a local account", "E", viem("local")],
      ["viem with the node's account", "F", viem("JSON-RPC")],
      ["viem, signing offline", "G", viemOffline],
      ["wagmi", "H", wagmi],
      ["web3.js with a local account", "I", web3("local")],
      ["web3.js with the node's account", "J", web3("JSON-RPC")],
      ["ethers with a local wallet, given what is for nodes", "K", givenTheOther(ethersWallet)],
      ["ethers with the node's account, given what is for nodes", "L", givenTheOther(ethersSigner)],
      ["viem with a local account, given what is for nodes", "M", givenTheOther(viem("local"))],
      ["viem with the node's account, given what is for nodes", "N", givenTheOther(viem("JSON-RPC"))],
      ["viem, signing what is for nodes offline", "O", givenTheOther(viemOffline)],
      ["web3.js with a local account, given what is for nodes", "P", givenTheOther(web3("local"))],
      ["web3.js with the node's account, given what is for nodes", "Q", givenTheOther(web3("JSON-RPC"))],
    ])("can be sent unedited by %s", async (_, letter, send) => {
      const key = `SPOTPX/${letter}-USD`;
      const answer = await operator.ask({ network_id: chain.chainId, dataset, key, broadcast: false });
      const hash = (await send(answer as DataAnswer & Unsent)) as Hex;
      await chain.wait(hash);

      const { value, timestamp, transaction } = answer;
      const stored = { value: BigInt(value), updatedAt: BigInt(timestamp), status: "OK" };
      expect(await chain.query(dataset, key)).toEqual(stored);
      // Every client uses the operator's gas limit, and no estimate of its own.
      const sent = await chain.client.getTransaction({ hash });
      expect([sent.chainId, sent.gas]).toEqual([chain.chainId, BigInt(transaction?.gas ?? 0)]);
    });
  });
});
