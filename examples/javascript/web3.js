import { datasetAbi } from "@dataset-oracle/protocol";
import { Web3 } from "web3";
import { ACCOUNT, CONSUMER, DATASET, NETWORK_ID, RPC_URL } from "./devnet-addresses.js";
import { postDataRequest } from "./post-data-request.js";

const web3 = new Web3(RPC_URL);
const from = ACCOUNT;
const consumer = new web3.eth.Contract(
  [
    { type: "function", name: "refresh", inputs: [], outputs: [] },
    { type: "function", name: "refreshWith", inputs: [{ name: "update", type: "bytes" }], outputs: [] },
    { type: "function", name: "price", inputs: [], outputs: [{ name: "", type: "uint256" }], stateMutability: "view" },
  ],
  CONSUMER,
);
const format = (value) => web3.utils.fromWei(value, "ether");

// Request an update, which the operator sends.
const requested = await postDataRequest("SPOTPX/ETH-USD", true);
console.log(`Requested: ${format(requested.value)}, by transaction ${requested.transaction_hash}.`);

// Read paid: a contract pays the query price and reads what is stored.
await consumer.methods.refresh().send({ from });
console.log(`Read paid: ${format(await consumer.methods.price().call())}.`);

// Read verified: a call without a sender, in which the dataset verifies a current value and stores nothing. web3.js
// does not support the lens (ERC-3668) as viem and ethers do, so this fetches the update itself.
const fetched = await postDataRequest("SPOTPX/BTC-USD", false);
const verify = new web3.eth.Contract(datasetAbi, DATASET).methods.verify(fetched.update).encodeABI();
const verified = await web3.eth.call({ to: DATASET, data: verify }, "pending");
console.log(`Read verified: ${format(web3.eth.abi.decodeParameters(["uint256", "uint256", "uint8"], verified)[0])}.`);

// Write fresh: one transaction stores the value of this moment and reads it. The round is newer than the latest block,
// so the gas is estimated in the pending one. Another sender's pending update makes this one look cheap, but may be
// mined after it: the gas limit covers both cases.
const { update, transaction } = await postDataRequest("SPOTPX/ETH-USD", false);
const data = consumer.methods.refreshWith(update).encodeABI();
const gas = (await web3.eth.estimateGas({ from, to: CONSUMER, data }, "pending")) + BigInt(transaction.gas);
await web3.eth.sendTransaction({ from, to: CONSUMER, data, gas, chainId: NETWORK_ID });
console.log(`Written fresh: ${format(await consumer.methods.price().call())}.`);
