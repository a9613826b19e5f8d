import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { clientOf, type TestMode } from "@dataset-oracle/devnet/test-support/chain-client";
import {
  deployTestContract,
  deployTestDataset,
  QUERY_PRICE,
  readBytecode,
  type TestDatasetSettings,
} from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { GETH_ACCOUNT, type Geth } from "@dataset-oracle/devnet/test-support/geth";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import {
  type Abi,
  type Address,
  concat,
  decodeFunctionResult,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  parseEther,
  stringToHex,
  zeroHash,
} from "viem";

/** The unlocked anvil account that deploys the datasets and owns them. */
export const OWNER: Address = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720";
/** Another unlocked account. */
export const OTHER_ACCOUNT: Address = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f";

const A_DAY_SECONDS = 86_400;
/** Tests wait for many blocks. The chain's time goes on as usual: several blocks have the same time. */
const BLOCK_SECONDS = 0.2;

/** The deterministic deployment proxy, which anvil and most networks have. */
const DEPLOYMENT_PROXY: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** A running node that mines a block each second. Its accounts are those of the usual test mnemonic, unlocked. */
interface DevelopmentNode {
  readonly url: string;
  /** The family of its methods for tests. */
  readonly mode: TestMode;
  close(): Promise<void>;
}

/** Geth has one unlocked account, and no methods for tests. */
export type TestNode = DevelopmentNode | (Geth & { readonly mode: "geth" });

export type TestChain = Awaited<ReturnType<typeof startChain>>;

/** Starts a real chain on anvil, with the actions that the tests need. */
export async function startChain(chainId = 42, hardfork?: string, blockTime = BLOCK_SECONDS) {
  const { url, close } = await startAnvil({ chainId, blockTime, ...(hardfork === undefined ? {} : { hardfork }) });
  return chainOf({ url, close, mode: "anvil" }, chainId);
}

/** Returns the actions that the tests need, on the chain of a node. */
export function chainOf(node: TestNode, chainId: number) {
  const mode = node.mode === "geth" ? "anvil" : node.mode;
  // A block that is mined twice, or a reorganization that happens twice, is another test than the one that was written.
  const client = clientOf(node.url, { chainId, mode, retryCount: 0, timeout: 60_000 });
  const [owner, otherAccount] = node.mode === "geth" ? ([GETH_ACCOUNT, GETH_ACCOUNT] as const) : [OWNER, OTHER_ACCOUNT];

  async function wait(hash: Hex): Promise<void> {
    const receipt = await client.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`${hash} reverted`);
  }

  return {
    chainId,
    url: node.url,
    client,
    /** An unlocked account that has Ether: OTHER_ACCOUNT where the node has it. */
    otherAccount,
    close: closeAtEnd(() => node.close()),

    deploy: (members: readonly Address[], settings: TestDatasetSettings = {}) =>
      deployTestDataset(node.url, { owner, members, ...settings }),

    /** Deploys another contract of src/. */
    deployContract: (name: string, abi: Abi, args: readonly unknown[]) =>
      deployTestContract(node.url, name, { abi, args, owner }),

    /** Deploys the contract through the deployment proxy, as the scripts do, and returns its address. */
    async deployAtFixedAddress(name: "CommitteeDirectory" | "WebOracleRegistry"): Promise<Address> {
      const bytecode = readBytecode(name);
      const salt = zeroHash;
      const data = concat([salt, bytecode]);
      await wait(await client.sendTransaction({ account: owner, to: DEPLOYMENT_PROXY, data }));
      return getContractAddress({ opcode: "CREATE2", from: DEPLOYMENT_PROXY, salt, bytecode });
    },

    async setCommittee(dataset: Address, members: readonly Address[]): Promise<void> {
      const data = encodeFunctionData({ abi: datasetAbi, functionName: "setCommittee", args: [members, 100n] });
      await wait(await client.sendTransaction({ account: owner, to: dataset, data }));
    },

    /** @param price The price of one query, in wei. */
    async setPrice(dataset: Address, price: bigint): Promise<void> {
      const data = encodeFunctionData({ abi: datasetAbi, functionName: "setQueryPrice", args: [price] });
      await wait(await client.sendTransaction({ account: owner, to: dataset, data }));
    },

    /** Pays for a query in a simulated call. */
    async query(dataset: Address, key: string) {
      const data = encodeFunctionData({ abi: datasetAbi, functionName: "query", args: [stringToHex(key)] });
      const result = await client.call({ account: otherAccount, to: dataset, data, value: QUERY_PRICE });
      const [output, updatedAt, status] = decodeFunctionResult({
        abi: datasetAbi,
        functionName: "query",
        data: result.data ?? "0x",
      });
      return { value: BigInt(output), updatedAt, status: QUERY_STATUSES[status] };
    },

    wait,

    async fund(address: Address): Promise<void> {
      const value = parseEther("100");
      if (node.mode !== "geth") return client.setBalance({ address, value });
      // An operator that is started again has Ether, and mining may be paused.
      if ((await client.getBalance({ address })) > 0n) return;
      await wait(await client.sendTransaction({ account: owner, to: address, value }));
    },

    /** Stops mining until `resumeMining`. Geth is restarted for either. */
    pauseMining: () => (node.mode === "geth" ? node.restart(A_DAY_SECONDS) : client.setIntervalMining({ interval: 0 })),
    resumeMining: () => (node.mode === "geth" ? node.restart(1) : client.setIntervalMining({ interval: 1 })),

    nonce: (address: Address) => client.getTransactionCount({ address, blockTag: "pending" }),

    /** Returns every `Updated` event so far, or those of some blocks. */
    async updates(dataset: Address | Address[], blocks: { fromBlock: bigint; toBlock?: bigint } = { fromBlock: 0n }) {
      const logs = await client.getContractEvents({
        ...{ address: dataset, abi: datasetAbi, eventName: "Updated", ...blocks },
      });
      return logs.map(({ args, transactionHash, blockHash }) => ({ ...args, transactionHash, blockHash }));
    },
  };
}
