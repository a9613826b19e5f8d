import { setTimeout as sleep } from "node:timers/promises";
import { PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { reportDigest } from "@dataset-oracle/protocol/report";
import { encodeUpdate } from "@dataset-oracle/protocol/update";
import { fromPrivateKey } from "@dataset-oracle/service/local-account";
import { numberToHex, parseEther, parseGwei, stringToHex } from "viem";
import { account } from "./chain.js";
import { request } from "./cpu.js";
import { postJson, repeat } from "./load.js";

/** Each stores another key. */
const UPDATES = 1_000;
const AT_ONCE = 128;
/** The chain's account that the bare calls come from. */
const SENDER = account(5);
/**
 * How many rounds of all keys the bare calls send, which are faster: both sides are to send for about as long, because
 * the chain answers nobody while it mines a block.
 */
const BARE_ROUNDS = 3;
/** An update needs about half of it. */
const GAS = 300_000n;
const MINED_MS = 10_000;

const providers = PROVIDERS.map(({ privateKey }) => fromPrivateKey(privateKey));

/** Stores every key once: what is stored for the first time costs more. */
export async function storeAll(stage) {
  await repeat(UPDATES, AT_ONCE, (i) => broadcast(stage, i));
}

/** Transactions a second of the operator, in parts of those of bare calls with updates that were prepared before. */
export async function throughput(stage) {
  const calls = await prepareBare(stage);
  const bare = await measure(stage, calls.length, await bareSender(stage, calls));
  const operator = await measure(stage, UPDATES, (i) => broadcast(stage, i));
  return { ratio: operator / bare, note: `${operator.toFixed(0)} a second; bare ${bare.toFixed(0)} a second` };
}

/** @returns The hash of the operator's transaction. */
async function broadcast(stage, i) {
  const answer = await postJson(stage.operator.requestUrl, request(stage, stage.keys[i], true));
  return answer.transaction_hash;
}

/** Mined transactions for each second that it took to hand them over: the chain takes all of them into its next block. */
async function measure({ client, dataset }, updates, send) {
  const from = await client.getBlockNumber({ cacheTime: 0 });
  const hashes = new Set();
  const begun = performance.now();
  await repeat(updates, AT_ONCE, async (i) => hashes.add(await send(i)));
  const seconds = (performance.now() - begun) / 1_000;
  const end = performance.now() + MINED_MS;
  let mined = 0;
  while (mined < hashes.size && performance.now() < end) {
    await sleep(200);
    const logs = await client.getContractEvents({
      address: dataset,
      abi: datasetAbi,
      eventName: "Updated",
      fromBlock: from,
    });
    mined = new Set(logs.map(({ transactionHash }) => transactionHash).filter((hash) => hashes.has(hash))).size;
  }
  return mined / seconds;
}

/** The calldata of updates, one for each key and round: newer rounds than are stored, and none in the chain's future. */
async function prepareBare({ dataset, keys }) {
  const first = Math.floor(Date.now() / 1_000) + 1;
  const committee = { toleranceBps: 100n, members: PROVIDERS.map(({ address }) => address) };
  const calls = [];
  for (let round = 0; round < BARE_ROUNDS; round++) {
    for (const text of keys.slice(0, UPDATES)) {
      const header = { chainId: 42, dataset, key: stringToHex(text), round: BigInt(first + round) };
      const reports = await Promise.all(providers.map((provider, i) => signedValue(provider, header, i)));
      calls.push(encodeUpdate("median", header, committee, "OK", reports));
    }
  }
  await sleep(Math.max(0, (first + BARE_ROUNDS) * 1_000 - Date.now()));
  return calls;
}

/** What sends one of these calls by viem, which signs it. */
async function bareSender({ client, dataset }, calls) {
  const nonce = await client.getTransactionCount({ address: SENDER.address });
  const fees = { maxFeePerGas: parseGwei("100"), maxPriorityFeePerGas: parseGwei("1") };
  return async (i) => {
    const call = { chainId: 42, nonce: nonce + i, to: dataset, data: calls[i], gas: GAS, value: 0n, ...fees };
    return client.sendRawTransaction({ serializedTransaction: await SENDER.signTransaction(call) });
  };
}

async function signedValue(provider, header, i) {
  const value = numberToHex(parseEther("100") + BigInt(i), { size: 32 });
  const hash = reportDigest({ ...header, outcome: "OK", value });
  return { provider: provider.address, value, signature: await provider.sign({ hash }) };
}
