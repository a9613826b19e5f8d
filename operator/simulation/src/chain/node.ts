import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { queryLensAbi } from "@dataset-oracle/protocol/abi/query-lens";
import {
  type Address,
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionResult,
  getAbiItem,
  getAddress,
  type Hex,
  keccak256,
  numberToHex,
} from "viem";
import { BLOCK_GAS_LIMIT, type Chain, type ChainTransaction, type MinedBlock, nonceOf, type Receipt } from "./chain.js";
import { type Points, Reverted, type UpdatedEvent, ZERO } from "./dataset-model.js";

/** What a node can be made to say that an honest one with all data would not. */
export interface NodeFaults {
  /** Receipts are there only this long after the block, in milliseconds. */
  receiptsLateMs: number;
  /** What the gas of estimates and simulations is multiplied by. */
  gasFactor: number;
  /** The oldest block whose logs it has; counted from the head. */
  logBlocks: number;
}

export type NodeReply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: Hex } };

interface CallParameters {
  readonly to: Address;
  readonly data?: Hex;
}

const UPDATED = encodeEventTopics({ abi: datasetAbi, eventName: "Updated" })[0];
const COMMITTEE_CHANGED = encodeEventTopics({ abi: datasetAbi, eventName: "CommitteeChanged" })[0];
/** The block that has the event of the dataset's committee. */
const COMMITTEE_BLOCK = 1;

/** Answers a JSON-RPC call as a node whose newest block is `view`. */
export function answerCall(
  chain: Chain,
  view: MinedBlock,
  { receiptsLateMs, gasFactor, logBlocks }: NodeFaults,
  method: string,
  params: readonly unknown[],
  nowMs: number,
): NodeReply {
  const [first, second] = params as readonly [never, never];
  const found = (hash: Hex) => {
    const at = chain.findReceipt(view, hash);
    return at !== null && nowMs - at.receipt.minedAt >= receiptsLateMs ? at : null;
  };
  const gasOf = ({ gasUsed }: { readonly gasUsed: bigint }) =>
    numberToHex(BigInt(Math.round(Number(gasUsed) * gasFactor)));
  switch (method) {
    case "eth_chainId":
      return { result: numberToHex(chain.chainId) };
    case "eth_blockNumber":
      return { result: numberToHex(view.number) };
    case "eth_getBlockByNumber": {
      const isTag = first === "latest" || first === "pending";
      const block = isTag ? view : chain.find(view, Number(first));
      return { result: block === null ? null : rpcBlock(block) };
    }
    case "eth_maxPriorityFeePerGas":
      return { result: numberToHex(1_000_000_000n) };
    case "eth_gasPrice":
      return { result: numberToHex(view.baseFee + 1_000_000_000n) };
    case "eth_getBalance":
      return { result: numberToHex(view.state.balances.get(getAddress(first)) ?? 0n) };
    case "eth_getTransactionCount": {
      const from = getAddress(first);
      return { result: numberToHex(second === "pending" ? chain.pendingNonce(from, view) : nonceOf(view.state, from)) };
    }
    case "eth_getCode":
      return { result: isDataset(chain, first) ? "0x6000" : "0x" };
    case "eth_call":
    case "eth_estimateGas": {
      const overrides = params[3] as { readonly time?: Hex } | undefined;
      const isPending = second === "pending";
      const time = isPending ? Math.max(view.timestamp + 1, Math.floor(nowMs / 1000)) : view.timestamp;
      const timestamp = overrides?.time === undefined ? time : Number(overrides.time);
      const points = isPending ? chain.pendingPoints(view, timestamp) : view.state.points;
      const called = call(chain, points, first, timestamp);
      if ("error" in called) return called;
      return { result: method === "eth_call" ? called.result : gasOf(called) };
    }
    case "eth_simulateV1": {
      const [{ calls, blockOverrides }] = (first as { blockStateCalls: [Simulated] }).blockStateCalls;
      const timestamp = Number(blockOverrides.time);
      const called = call(chain, view.state.points, calls[0], timestamp);
      const done =
        "error" in called
          ? { status: "0x0", returnData: called.error.data ?? "0x", gasUsed: "0x9c40", logs: [], error: called.error }
          : { status: "0x1", returnData: called.result, gasUsed: gasOf(called), logs: [] };
      const block = { ...rpcBlock(view), number: numberToHex(view.number + 1), timestamp: numberToHex(timestamp) };
      return { result: [{ ...block, calls: [done] }] };
    }
    case "eth_sendRawTransaction": {
      const sent = chain.submit(first, view, nowMs);
      return typeof sent === "string" ? { result: sent } : { error: sent };
    }
    case "eth_getTransactionReceipt": {
      const at = found(first);
      return { result: at === null ? null : rpcReceipt(chain, at.block, at.receipt) };
    }
    case "eth_getTransactionByHash": {
      const mined = chain.findReceipt(view, first);
      if (mined !== null) return { result: rpcTransaction(chain, mined.receipt.transaction, mined.block) };
      const pending = [...chain.pool.values()].flatMap((byNonce) => [...byNonce.values()]);
      const shown = pending.find(({ hash, neverMined }) => hash === first && neverMined !== "hidden");
      return { result: shown === undefined ? null : rpcTransaction(chain, shown, null) };
    }
    case "txpool_contentFrom": {
      const from = getAddress(first);
      const end = chain.pendingNonce(from, view);
      const [pending, queued]: [Record<string, object>, Record<string, object>] = [{}, {}];
      for (const one of chain.shownOf(from, view))
        (one.nonce < end ? pending : queued)[one.nonce] = rpcTransaction(chain, one, null);
      return { result: { pending, queued } };
    }
    case "eth_getLogs":
      return getLogs(chain, view, first, logBlocks);
    default:
      return { error: { code: -32_601, message: `the method ${method} does not exist/is not available` } };
  }
}

interface Simulated {
  readonly calls: readonly [CallParameters];
  readonly blockOverrides: { readonly time: Hex };
}

const isDataset = ({ dataset }: Chain, to: Address) => to.toLowerCase() === dataset.address.toLowerCase();

function call(chain: Chain, points: Points, { to, data = "0x" }: CallParameters, timestamp: number) {
  const { dataset } = chain;
  if (data === "0x") return { result: "0x" as Hex, gasUsed: 21_000n };
  if (to.toLowerCase() !== dataset.address.toLowerCase()) {
    // The lens, whose code the caller brings along.
    const { functionName, args } = decodeFunctionData({ abi: queryLensAbi, data });
    const keys = (args as unknown as readonly [Address, readonly Hex[]])[1];
    const result = keys.map((key) => dataset.query(points, keccak256(key)));
    return { result: encodeFunctionResult({ abi: queryLensAbi, functionName, result } as never), gasUsed: 100_000n };
  }
  try {
    const { result, gasUsed } = dataset.execute(points, data, timestamp);
    return { result, gasUsed };
  } catch (error) {
    if (!(error instanceof Reverted)) throw error;
    chain.refusedCalls.push(error.errorName);
    return { error: { code: 3, message: "execution reverted", data: error.data } };
  }
}

interface LogFilter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly topics: readonly (Hex | null)[];
}

function getLogs(
  chain: Chain,
  view: MinedBlock,
  { fromBlock, toBlock, topics }: LogFilter,
  logBlocks: number,
): NodeReply {
  const numberOf = (tag: string | undefined, otherwise: number) =>
    tag?.startsWith("0x") ? Number(tag) : tag === "earliest" ? 0 : otherwise;
  const [from, to] = [numberOf(fromBlock, view.number), numberOf(toBlock, view.number)];
  if (from > view.number) return { error: { code: -32_000, message: "invalid block range params" } };
  const hasAll = from >= view.number - logBlocks;
  if (topics[0] === COMMITTEE_CHANGED) {
    if (!hasAll && from !== COMMITTEE_BLOCK) return PRUNED;
    return { result: from <= COMMITTEE_BLOCK && to >= COMMITTEE_BLOCK ? [committeeLog(chain)] : [] };
  }
  if (!hasAll) return PRUNED;
  if (topics[0] !== UPDATED) return { result: [] };
  const logs: object[] = [];
  for (let block: MinedBlock | null = view; block !== null && block.number >= from; block = block.parent) {
    if (block.number > to) continue;
    const ofBlock = rpcLogs(chain, block);
    logs.unshift(...ofBlock.filter(({ topics: [, keyHash] }) => !topics[1] || topics[1] === keyHash));
  }
  return { result: logs };
}

const PRUNED: NodeReply = { error: { code: 4_444, message: "pruned history unavailable" } };

function committeeLog({ dataset }: Chain): object {
  const { inputs } = getAbiItem({ abi: datasetAbi, name: "CommitteeChanged" });
  const { members, toleranceBps } = dataset.committee;
  return {
    ...{ address: dataset.address.toLowerCase(), topics: [COMMITTEE_CHANGED] },
    data: encodeAbiParameters(inputs, [[...members], toleranceBps]),
    ...{ transactionHash: ZERO, blockNumber: numberToHex(COMMITTEE_BLOCK), blockHash: keccak256("0x01") },
    ...{ logIndex: "0x0", transactionIndex: "0x0", removed: false },
  };
}

function rpcLogs({ dataset }: Chain, { number, hash, receipts }: MinedBlock) {
  const place = { blockNumber: numberToHex(number), blockHash: hash };
  const events = receipts.flatMap((receipt, index) =>
    receipt.events.map((event) => ({
      event,
      transactionHash: receipt.transaction.hash,
      transactionIndex: numberToHex(index),
    })),
  );
  return events.map(({ event, ...of }, index) => {
    const topics = [UPDATED, event.keyHash];
    const address = dataset.address.toLowerCase();
    return { address, topics, data: eventData(event), ...of, ...place, logIndex: numberToHex(index), removed: false };
  });
}

const encoded = new WeakMap<UpdatedEvent, Hex>();
const UPDATED_DATA = getAbiItem({ abi: datasetAbi, name: "Updated" }).inputs.slice(1);

/** The part of the event that is no topic. */
function eventData(event: UpdatedEvent): Hex {
  const { value, round, status } = event;
  const data = encoded.get(event) ?? encodeAbiParameters(UPDATED_DATA, [value, round, status] as never);
  encoded.set(event, data);
  return data;
}

const rpcBlock = ({ number, hash, parent, timestamp, baseFee }: MinedBlock) => ({
  ...{ number: numberToHex(number), hash, parentHash: parent?.hash ?? ZERO, timestamp: numberToHex(timestamp) },
  ...{ baseFeePerGas: numberToHex(baseFee), gasLimit: numberToHex(BLOCK_GAS_LIMIT), gasUsed: "0x0", transactions: [] },
  ...{
    difficulty: "0x0",
    totalDifficulty: null,
    size: "0x0",
    uncles: [],
    logsBloom: null,
    nonce: "0x0000000000000000",
  },
  ...{
    extraData: "0x",
    miner: `0x${"0".repeat(40)}`,
    mixHash: ZERO,
    receiptsRoot: ZERO,
    sha3Uncles: ZERO,
    stateRoot: ZERO,
  },
  transactionsRoot: ZERO,
});

function rpcReceipt(chain: Chain, block: MinedBlock, { transaction, outcome, gasUsed }: Receipt): object {
  const isReverted = outcome === "reverted" || outcome === "out of gas";
  return {
    ...{ transactionHash: transaction.hash, blockNumber: numberToHex(block.number), blockHash: block.hash },
    ...{ status: isReverted ? "0x0" : "0x1", from: transaction.from.toLowerCase(), to: transaction.to.toLowerCase() },
    ...{
      gasUsed: numberToHex(gasUsed),
      cumulativeGasUsed: numberToHex(gasUsed),
      effectiveGasPrice: "0x1",
      type: "0x2",
    },
    ...{ transactionIndex: "0x0", contractAddress: null, logsBloom: "0x" },
    logs: rpcLogs(chain, block).filter(({ transactionHash }) => transactionHash === transaction.hash),
  };
}

function rpcTransaction({ chainId }: Chain, transaction: ChainTransaction, block: MinedBlock | null): object {
  const { hash, signature, from, nonce, to, data, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const { r, s, yParity } = signature;
  const parity = numberToHex(yParity);
  const place = block === null ? null : { hash: block.hash, number: numberToHex(block.number) };
  return {
    ...{
      hash,
      from: from.toLowerCase(),
      nonce: numberToHex(nonce),
      to: to.toLowerCase(),
      input: data,
      gas: numberToHex(gas),
    },
    ...{
      value: "0x0",
      type: "0x2",
      chainId: numberToHex(chainId),
      accessList: [],
      gasPrice: numberToHex(maxFeePerGas),
    },
    ...{ maxFeePerGas: numberToHex(maxFeePerGas), maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas) },
    ...{ v: parity, r, s, yParity: parity },
    ...{ blockHash: place?.hash ?? null, blockNumber: place?.number ?? null, transactionIndex: place && "0x0" },
  };
}
