import { connect, createConfig, mock, sendTransaction } from "@wagmi/core";
import { JsonRpcProvider, Wallet } from "ethers";
import { http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Web3 } from "web3";
import { givenTheOther, type SendReturned, testSending } from "../operator/test/support/returned-transactions.js";

/** Runs work with an ethers provider, which polls until it is destroyed. */
async function withEthers<T>(url: string, work: (provider: JsonRpcProvider) => Promise<T>): Promise<T> {
  const provider = new JsonRpcProvider(url);
  try {
    return await work(provider);
  } finally {
    provider.destroy();
  }
}

const ethersWallet: SendReturned = ({ transaction_request: request }, { chain, privateKey }) =>
  withEthers(chain.url, async (provider) => (await new Wallet(privateKey, provider).sendTransaction(request)).hash);

const ethersSigner: SendReturned = ({ transaction_request: request }, { chain }) =>
  withEthers(chain.url, async (provider) => {
    const signer = await provider.getSigner(chain.otherAccount);
    return (await signer.sendTransaction(request)).hash;
  });

const wagmi: SendReturned = async ({ transaction_request: request }, { chain }) => {
  const connector = mock({ accounts: [chain.otherAccount] });
  const transports = { [chain.chainId]: http(chain.url) };
  const config = createConfig({ chains: [chain.client.chain], connectors: [connector], transports, storage: null });
  await connect(config, { connector });
  return sendTransaction(config, request as never);
};

const web3 =
  (account: "local" | "JSON-RPC"): SendReturned =>
  async ({ transaction_request: request }, { chain, privateKey }) => {
    const client = new Web3(chain.url);
    if (account === "local") client.eth.accounts.wallet.add(privateKey);
    const from = account === "local" ? privateKeyToAccount(privateKey).address : chain.otherAccount;
    return String((await client.eth.sendTransaction({ from, ...request })).transactionHash);
  };

testSending([
  ["ethers with a local wallet", ethersWallet],
  ["ethers with the node's account", ethersSigner],
  ["wagmi", wagmi],
  ["web3.js with a local account", web3("local")],
  ["web3.js with the node's account", web3("JSON-RPC")],
  ["ethers with a local wallet, given what is for nodes", givenTheOther(ethersWallet)],
  ["ethers with the node's account, given what is for nodes", givenTheOther(ethersSigner)],
  ["web3.js with a local account, given what is for nodes", givenTheOther(web3("local"))],
  ["web3.js with the node's account, given what is for nodes", givenTheOther(web3("JSON-RPC"))],
]);
