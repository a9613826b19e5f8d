import { setTimeout as sleep } from "node:timers/promises";
import { deriveAccount, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { type ReportHeader, reportDigest } from "@dataset-oracle/protocol/report";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import { type Hex, type LocalAccount, numberToHex, parseEther, parseGwei, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { dataRequestBody } from "../data-request-body.js";
import { postJson } from "../http-client.js";
import { minedPerSecond } from "../mined-per-second.js";
import type { BenchNetwork, Environment } from "../processes.js";
import { signHash } from "../sign-hash.js";
import type { Measurement } from "./measurement.js";

/** Each update stores a different key. */
const UPDATES = 1_000;
const AT_ONCE = 128;
/** The account that sends the baseline's transactions. */
const SENDER = privateKeyToAccount(deriveAccount(5).privateKey);
/**
 * The baseline is faster, so it sends several rounds of all keys: both sides must run for about the same time, because
 * the chain does not answer while it mines a block.
 */
const VIEM_ROUNDS = 3;

const providers = PROVIDERS.map(({ privateKey }) => accountFromPrivateKey(privateKey));

/** Stores every key once, because the first update of a key needs more gas. */
export async function storeAll(environment: Environment): Promise<void> {
  await forEachConcurrently(Array(UPDATES).keys(), AT_ONCE, (i) => broadcast(environment, i));
}

/** Compares the operator's transactions per second with those of viem, which sends prepared updates. */
export async function measureThroughput(environment: Environment): Promise<Measurement> {
  const calls = await prepareUpdates(environment);
  const viem = await minedPerSecond(environment, calls.length, AT_ONCE, await viemSender(environment, calls));
  const operator = await minedPerSecond(environment, UPDATES, AT_ONCE, (i) => broadcast(environment, i));
  return { ratio: operator / viem, note: `${operator.toFixed(0)} per second; viem ${viem.toFixed(0)} per second` };
}

/** Requests a broadcast update and returns the hash of its transaction. */
async function broadcast(environment: Environment, i: number): Promise<Hex> {
  const answer = await postJson(
    environment.operator.requestUrl,
    dataRequestBody(environment, environment.keys[i] as string, true),
  );
  return answer.transaction_hash;
}

/** Encodes one update for each key and round. The rounds are newer than the stored ones, and over when this returns. */
async function prepareUpdates({ dataset, keys }: BenchNetwork): Promise<Hex[]> {
  const first = Math.floor(Date.now() / 1_000) + 1;
  const committee = { toleranceBps: 100n, members: PROVIDERS.map(({ address }) => address) };
  const calls: Hex[] = [];
  for (let round = 0; round < VIEM_ROUNDS; round++) {
    for (const text of keys.slice(0, UPDATES)) {
      const header = { chainId: 42, dataset, key: stringToHex(text), round: BigInt(first + round) };
      const reports = await Promise.all(providers.map((provider, i) => signedValue(provider, header, i)));
      calls.push(encodeUpdateCall(encodeUpdate("median", header, committee, "OK", reports)));
    }
  }
  await sleep(Math.max(0, (first + VIEM_ROUNDS) * 1_000 - Date.now()));
  return calls;
}

/**
 * Returns a function that signs and sends one of these updates with viem. They differ by a few bytes only, so all have the
 * same limit, with room.
 */
async function viemSender({ client, dataset }: BenchNetwork, calls: readonly Hex[]) {
  const nonce = await client.getTransactionCount({ address: SENDER.address });
  const gas = 2n * (await client.estimateGas({ account: SENDER.address, to: dataset, data: calls[0] as Hex }));
  const fees = { maxFeePerGas: parseGwei("100"), maxPriorityFeePerGas: parseGwei("1") };
  return async (i: number) => {
    const call = { chainId: 42, nonce: nonce + i, to: dataset, data: calls[i] as Hex, gas, value: 0n, ...fees };
    return client.sendRawTransaction({ serializedTransaction: await SENDER.signTransaction(call) });
  };
}

async function signedValue(provider: LocalAccount, header: ReportHeader, i: number) {
  const value = numberToHex(parseEther("100") + BigInt(i), { size: 32 });
  const hash = reportDigest({ ...header, outcome: "OK", value });
  return { provider: provider.address, value, signature: await signHash(provider, hash) };
}
