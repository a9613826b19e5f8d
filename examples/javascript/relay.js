// Relays reports without an operator, which is asked only for the list of providers: reads the committee from the chain,
// requests a report from each provider, verifies the signatures, and sends the update.
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { committeeHash } from "@dataset-oracle/protocol/committee-hash";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { recoverReporter } from "@dataset-oracle/protocol/report";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { createPublicClient, createWalletClient, http } from "viem";
import { ACCOUNT, DATASET, OPERATOR, RPC_URL } from "./devnet-addresses.js";

const client = createPublicClient({ transport: http(RPC_URL), pollingInterval: 200 });
const chainId = await client.getChainId();
const key = spotPriceKey("ETH-USD");

// The dataset stores the hash of its committee, and the block of the event that lists the members.
const contract = { address: DATASET, abi: datasetAbi };
const fromBlock = await client.readContract({ ...contract, functionName: "committeeBlock" });
const stored = await client.readContract({ ...contract, functionName: "committeeHash" });
const events = await client.getContractEvents({
  ...{ ...contract, eventName: "CommitteeChanged", strict: true },
  ...{ fromBlock, toBlock: fromBlock },
});
const committee = events.map(({ args }) => args).find((args) => committeeHash(args) === stored);
if (committee === undefined)
  throw new Error("The RPC does not return the CommitteeChanged event. Use one that keeps older logs.");

// Any operator lists the providers' URLs; you can also get them from the providers themselves.
const served = await (await fetch(`${OPERATOR}/datasets`)).json();
const providers = served.find(({ dataset }) => dataset === DATASET)?.providers ?? [];

// All reports must be of the same round. A report counts only if the provider signed exactly this content.
const round = BigInt(Math.floor(Date.now() / 1000) - 2);
async function ask({ address: provider, url }) {
  const response = await fetch(`${url}/report`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ network_id: chainId, dataset: DATASET, key, timestamp: Number(round) }),
    signal: AbortSignal.timeout(5_000),
  });
  if (!response.ok) return [];
  const { outcome, value, signature } = await response.json();
  const report = { chainId, dataset: DATASET, key, round, outcome, value };
  const signer = outcome === "OK" ? await recoverReporter(report, signature) : null;
  return signer === provider ? [{ provider, value, signature }] : [];
}
const reports = (await Promise.all(providers.map((provider) => ask(provider).catch(() => [])))).flat();
const members = committee.members.length;
if (!isQuorum(reports.length, members - reports.length))
  throw new Error(`${reports.length} of ${members} reports are not a quorum. Try again.`);

const data = encodeUpdateCall(encodeUpdate("median", { key, round }, committee, "OK", reports));
const wallet = createWalletClient({ account: ACCOUNT, transport: http(RPC_URL) });
const hash = await wallet.sendTransaction({ chain: null, to: DATASET, data });
const { status } = await client.waitForTransactionReceipt({ hash });
console.log(`Submitted ${reports.length} of ${members} reports: ${status}.`);
