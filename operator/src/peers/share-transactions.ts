import { decodeUpdateCall, type UpdateCall } from "@dataset-oracle/protocol/decode-update-call";
import { SharedTransaction } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Address, Hex } from "viem";
import { getBalance } from "viem/actions";
import { readNonce } from "../chain/read-and-send-transactions.js";
import { unwrapRpcError } from "../chain/rpc-error.js";
import type { Dataset, Network } from "../network.js";
import type { Context } from "../process-context.js";
import { roundAt } from "../round-time.js";
import { holdStatementsInCalldata } from "../statements/hold-statements-in-calldata.js";
import { baseFeeOf, readNetworkFees } from "../tx/fees.js";
import { type Node, othersOf } from "./node-list.js";
import { readNodeAnswer } from "./read-node-answer.js";
import { readSignedTransaction, type SignedTransaction } from "./signed-transaction.js";

/** The path, below the base URL, at which a node takes other nodes' signed transactions and shows those it holds. */
export const TRANSACTIONS_PATH = "/transactions";

const SHARE_DEADLINE_MS = 2_000;
const MAX_ANSWER_BYTES = 16 * 1024;
/** A node that asks is about to send, so it waits only as long as a nearby node takes to answer. */
const FETCH_DEADLINE_MS = 500;
/** Room for two batches of 100 keys that 60 members have signed. */
const MAX_FETCHED_BYTES = 1024 * 1024;
/** Each transaction costs the RPC endpoints several requests, so only this many of one node's answer are looked at. */
const MAX_FETCHED = 2;

/** How far a round may be in the future, in seconds, because the sender's clock is ahead. */
const MAX_AHEAD = 2n;
/** How far a nonce may be beyond the sender's mined ones. */
const MAX_NONCE_AHEAD = 64;

const fetchedAnswer = TypeCompiler.Compile(Type.Array(SharedTransaction));

/** A transaction that another node signed, before the chain is asked about it. */
export interface ReceivedTransaction {
  readonly signed: SignedTransaction;
  /** Null for a cancellation. */
  readonly update: { readonly call: UpdateCall; readonly dataset: Dataset } | null;
}

/**
 * Holds a signed transaction of this node, and gives it to the others. Nobody waits for them: one that does not get it
 * can ask for it, or will see it on chain.
 */
export function shareTransaction(
  { chainId, nodes: { all, own }, http, transactions }: Pick<Network, "chainId" | "nodes" | "http" | "transactions">,
  raw: Hex,
): void {
  // Others take no transactions from a volunteer.
  if (own === null) return;
  const signed = readSignedTransaction(raw);
  if (signed !== null) transactions.add(signed, decodeUpdateCall(signed.data));
  const body = JSON.stringify({ network_id: chainId, raw } satisfies SharedTransaction);
  const limits = { timeoutMs: SHARE_DEADLINE_MS, maxBytes: MAX_ANSWER_BYTES };
  for (const node of all) {
    if (node !== own) void http.post(node.url, TRANSACTIONS_PATH, {}, body, limits);
  }
}

/**
 * Asks other nodes for transactions that update a key, because this one may have been cut off when they were shared. It
 * holds those that the chain would accept, and never throws.
 *
 * @param round The oldest round that will do, in seconds since 1970.
 * @param providers Those whose nodes are asked.
 */
export async function fetchTransactions(
  context: Context,
  network: Network,
  dataset: Dataset,
  key: Hex,
  round: bigint,
  providers: ReadonlySet<Address>,
): Promise<void> {
  const query = `network_id=${network.chainId}&dataset=${dataset.address}&round=${round}&key=${key}`;
  const asked = othersOf(network.nodes).filter(({ provider }) => providers.has(provider));
  await Promise.all(asked.map((node) => fetchFrom(node, context, network, query).catch(() => {})));
}

async function fetchFrom({ url }: Node, context: Context, network: Network, query: string): Promise<void> {
  const limits = { timeoutMs: FETCH_DEADLINE_MS, maxBytes: MAX_FETCHED_BYTES };
  const got = await network.http.get(url, `${TRANSACTIONS_PATH}?${query}`, limits);
  for (const { raw } of (readNodeAnswer(fetchedAnswer, got) ?? []).slice(0, MAX_FETCHED)) {
    const received = readReceived(context, network, raw as Hex);
    if (!received.ok || network.transactions.hasHash(received.value.signed.hash)) continue;
    await holdReceived(network, received.value);
  }
}

/**
 * Reads a transaction that is said to be another node's update, or its cancellation of one. It makes no request.
 *
 * @returns The transaction, or the reason why it is not one.
 */
export function readReceived(
  { clock }: Context,
  { chainId, datasets, nodes: { all, own } }: Network,
  raw: Hex,
): Result<ReceivedTransaction> {
  const signed = readSignedTransaction(raw);
  if (signed === null) return err("It is not a valid signed transaction that calls a contract and sends no Ether.");
  const node = all.find(({ submitter }) => submitter === signed.sender);
  if (node === undefined || signed.sender === own?.submitter)
    return err(`${signed.sender} is not the submitter of another node.`);
  if (isCancellation(signed) && signed.chainId === chainId) return ok({ signed, update: null });
  const dataset = signed.chainId === chainId ? datasets.get(signed.to) : undefined;
  if (dataset === undefined) return err(`${signed.to} on network ${signed.chainId} is not a dataset served here.`);
  if (!dataset.committee.current.members.includes(node.provider)) {
    return err(`${node.provider} is not a member of the dataset's committee.`);
  }
  const call = decodeUpdateCall(signed.data);
  if (call === null) return err("Its call is not an update.");
  const { round } = call;
  const now = roundAt(clock());
  if (round > now + MAX_AHEAD || round + dataset.maxRoundAge <= now) {
    return err(`Its round, ${round}, is not from the last ${dataset.maxRoundAge} s.`);
  }
  return ok({ signed, update: { call, dataset } });
}

/**
 * Holds a transaction if the chain would accept it now.
 *
 * @returns Null as the value, or the reason why the chain would not.
 * @throws ProblemError when the dataset would refuse it. RpcError.
 */
export async function holdReceived(network: Network, { signed, update }: ReceivedTransaction): Promise<Result<null>> {
  const { client, simulator, transactions } = network;
  const { sender, nonce, data, gas, maxFeePerGas } = signed;
  // Its reports can be evidence against their signers even if the chain has the round already.
  if (update !== null) holdStatementsInCalldata(network, update.dataset, data);
  const [mined, balance, networkFees] = await Promise.all([
    readNonce(client, sender, "latest"),
    unwrapRpcError(client, "eth_getBalance", getBalance(client, { address: sender })),
    readNetworkFees(client),
  ]);
  if (nonce < mined || nonce >= mined + MAX_NONCE_AHEAD)
    return err(`Its nonce is ${nonce}; the sender's next ones are ${mined} to ${mined + MAX_NONCE_AHEAD - 1}.`);
  if (maxFeePerGas < baseFeeOf(networkFees))
    return err(`It pays at most ${maxFeePerGas} wei per gas, less than the base fee of ${baseFeeOf(networkFees)}.`);
  if (balance < gas * maxFeePerGas) return err(`Its sender has ${balance} wei, less than the transaction may cost.`);
  const needed = update && (await gasOf(simulator, update.dataset, update.call, data));
  // A simulation returns the gas with a quarter to spare.
  if (needed !== null && gas * 5n < needed * 4n) return err(`Its gas limit, ${gas}, is too low. ${needed} would do.`);
  transactions.add(signed, needed === null ? null : (update?.call ?? null));
  return ok(null);
}

/** Recognizes a cancellation of the transaction queue: a transfer of nothing to the sender itself. */
const isCancellation = ({ sender, to, data }: SignedTransaction): boolean => to === sender && data === "0x";

/**
 * Returns the gas that an update needs; null when it would store nothing.
 *
 * @throws ProblemError when it would revert.
 */
async function gasOf(
  simulator: Network["simulator"],
  { address }: Dataset,
  call: UpdateCall,
  data: Hex,
): Promise<bigint | null> {
  if (call.kind === "batch") {
    const { isStored, gas } = await simulator.simulateBatch(address, data);
    return isStored.includes(true) ? gas : null;
  }
  const simulation = await simulator.simulateUpdate(address, call.key, call.outcome, data);
  if (simulation.kind === "refused") throw simulation.problem;
  return simulation.kind === "ok" ? simulation.gas : null;
}
