import { Contract, formatEther, hexlify, JsonRpcProvider, toUtf8Bytes } from "ethers";
import { ACCOUNT, CONSUMER, DATASET, LENS, NETWORK_ID, RPC_URL } from "./devnet-addresses.js";
import { postDataRequest } from "./post-data-request.js";

const provider = new JsonRpcProvider(RPC_URL, undefined, { pollingInterval: 500 });
const signer = await provider.getSigner(ACCOUNT);
const abi = ["function refresh()", "function refreshWith(bytes update)", "function price() view returns (uint256)"];
const consumer = new Contract(CONSUMER, abi, signer);

// Request an update, which the operator sends.
const requested = await postDataRequest("SPOTPX/ETH-USD", true);
console.log(`Requested: ${formatEther(requested.value)}, by transaction ${requested.transaction_hash}.`);

// Read paid: a contract pays the query price and reads what is stored.
await (await consumer.refresh()).wait();
console.log(`Read paid: ${formatEther(await consumer.price())}.`);

// Read verified: a value at most a minute old. The dataset verifies it in a call that costs nothing and stores nothing.
const read = "function read(address dataset, bytes key, uint256 maxAge) view returns (uint256 value, uint256, uint8)";
const lens = new Contract(LENS, [read], provider);
const key = hexlify(toUtf8Bytes("SPOTPX/BTC-USD"));
const { value } = await lens.read(DATASET, key, 60, { enableCcipRead: true });
console.log(`Read verified: ${formatEther(value)}.`);

// Write fresh: one transaction stores the value of this moment and reads it. The round is newer than the latest block,
// so the gas is estimated in the pending one. Another sender's pending update makes this one look cheap, but may be
// mined after it: the gas limit covers both cases.
const { update, transaction } = await postDataRequest("SPOTPX/ETH-USD", false);
const call = await consumer.refreshWith.populateTransaction(update);
const estimate = await provider.send("eth_estimateGas", [{ ...call, from: ACCOUNT }, "pending"]);
const gasLimit = BigInt(estimate) + BigInt(transaction.gas);
await (await signer.sendTransaction({ ...call, gasLimit, chainId: NETWORK_ID })).wait();
console.log(`Written fresh: ${formatEther(await consumer.price())}.`);

provider.destroy();
