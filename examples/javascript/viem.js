import { formatSpotPrice, readVerified, requestUpdate, writeContractWithUpdate } from "@dataset-oracle/protocol";
import { createPublicClient, createWalletClient, http, parseAbi } from "viem";
import { ACCOUNT, CONSUMER, DATASET, LENS, NETWORK_ID, OPERATOR, RPC_URL } from "./devnet-addresses.js";

const client = createPublicClient({ transport: http(RPC_URL), pollingInterval: 500 });
const walletClient = createWalletClient({ account: ACCOUNT, transport: http(RPC_URL) });
const consumer = {
  address: CONSUMER,
  abi: parseAbi([
    "function refresh()",
    "function refreshWith(bytes update)",
    "function price() view returns (uint256)",
    "error BadQueryStatus(uint8 status)",
    "error DataExpired(uint256 age, uint256 maxAge)",
  ]),
};

// Request an update, which the operator sends.
const request = { url: OPERATOR, dataset: DATASET, key: "SPOTPX/ETH-USD" };
const { value, transactionHash } = await requestUpdate({
  ...request,
  networkId: NETWORK_ID,
  broadcast: true,
  wait: 20,
});
console.log(`Requested: ${formatSpotPrice(value)}, by transaction ${transactionHash}.`);

// Read paid: a contract pays the query price and reads what is stored.
const refreshed = await walletClient.writeContract({ ...consumer, functionName: "refresh", chain: null });
await client.waitForTransactionReceipt({ hash: refreshed });
const price = () => client.readContract({ ...consumer, functionName: "price" });
console.log(`Read paid: ${formatSpotPrice(await price())}.`);

// Read verified: a value at most a minute old. The dataset verifies it in a call that costs nothing and stores nothing.
const verified = await readVerified(client, { lens: LENS, dataset: DATASET, key: "SPOTPX/BTC-USD", maxAge: 60 });
console.log(`Read verified: ${formatSpotPrice(verified.value)}.`);

// Write fresh: one transaction stores the value of this moment and reads it.
const hash = await writeContractWithUpdate(walletClient, {
  ...consumer,
  functionName: "refreshWith",
  args: (update) => [update],
  update: request,
});
await client.waitForTransactionReceipt({ hash });
console.log(`Written fresh: ${formatSpotPrice(await price())}.`);
