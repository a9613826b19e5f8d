import { writeContractWithUpdate } from "@dataset-oracle/protocol";
import { network } from "hardhat";
import { parseEther } from "viem";

const OPERATOR = "http://127.0.0.1:8080";
const DATASET = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

const { viem } = await network.create();
const client = await viem.getPublicClient();
const [buyer] = await viem.getWalletClients();
const shop = await viem.deployContract("Shop", [DATASET]);

// One transaction stores the rate of this moment, reads it and buys. The contract returns the change.
const hash = await writeContractWithUpdate(buyer, {
  address: shop.address,
  abi: shop.abi,
  functionName: "buy",
  args: (update) => [update],
  value: parseEther("1"),
  update: { url: OPERATOR, dataset: DATASET, key: "SPOTPX/ETH-USD" },
});
const { status } = await client.waitForTransactionReceipt({ hash });
console.log(`${hash}: ${status}, ${await shop.read.ticketsOf([buyer.account.address])} ticket`);
