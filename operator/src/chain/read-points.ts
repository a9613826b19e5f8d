import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/report";
import { type Address, concatHex, encodeFunctionData, type Hex, hexToBigInt, numberToHex, size, slice } from "viem";
import type { StoredPoint } from "./dataset.js";
import { Data, type Rpc, requestAs } from "./rpc.js";
import { RpcError } from "./rpc-error.js";

const READER: Address = "0x00000000000000000000000000000000000c0de1";

/** What one query answers: value, timestamp, status. */
const ANSWER_BYTES = 96;
/** Below the 49,152 bytes that a node takes as the code of a creation. */
const MAX_CODE_BYTES = 40_000;

const [CODECOPY, CALL, ISZERO, JUMPI, GAS, RETURN] = ["0x39", "0xf1", "0x15", "0x57", "0x5a", "0xf3"] as const;
/** Jumps over a place (3) that reverts. */
const START: Hex = "0x6009565b60006000fd5b";
const REVERT_AT: Hex = "0x6003";
const END_BYTES = 7;

/**
 * Reads many keys of a dataset, as anyone reads them, but without paying: one call for hundreds of them. No contract is
 * needed for it: the call is a creation that is never sent, whose code asks for one key after the other.
 *
 * @param price Of one query now, in wei.
 * @throws RpcError, a refusal when the price is another by now.
 */
export async function readPoints(
  rpc: Rpc,
  dataset: Address,
  keys: readonly Hex[],
  price: bigint,
): Promise<readonly StoredPoint[]> {
  const points: StoredPoint[] = [];
  for (const queries of chunks(keys.map(toQuery))) {
    const value = numberToHex(price * BigInt(queries.length));
    const call = { from: READER, data: readerCode(dataset, price, queries), value };
    const answers = await requestAs(rpc, Data, "eth_call", [call, "latest", { [READER]: { balance: value } }]);
    if (size(answers) !== queries.length * ANSWER_BYTES) throw otherAnswer(rpc);
    points.push(
      ...queries.map((_, place) => toPoint(slice(answers, place * ANSWER_BYTES, (place + 1) * ANSWER_BYTES))),
    );
  }
  return points;
}

const toQuery = (key: Hex) => encodeFunctionData({ abi: datasetAbi, functionName: "query", args: [key] });

/** The code that sends each query with its price, and returns all answers, or reverts when one does. */
function readerCode(dataset: Address, price: bigint, queries: readonly Hex[]): Hex {
  const step = (input: number, from: number, length: number, output: number) =>
    concatHex([
      ...[push(length), push(from), push(input), CODECOPY],
      ...[
        push(ANSWER_BYTES),
        push(output),
        push(length),
        push(input),
        `0x7f${numberToHex(price, { size: 32 }).slice(2)}`,
      ],
      ...[`0x73${dataset.slice(2)}` as Hex, GAS, CALL, ISZERO, REVERT_AT, JUMPI],
    ] as Hex[]);
  const input = queries.length * ANSWER_BYTES;
  let from = size(START) + queries.length * size(step(0, 0, 0, 0)) + END_BYTES;
  const steps = queries.map((query, place) => {
    const code = step(input, from, size(query), place * ANSWER_BYTES);
    from += size(query);
    return code;
  });
  return concatHex([START, ...steps, push(input), push(0), RETURN, ...queries]);
}

/** Puts a number of two bytes on the stack. */
const push = (number: number): Hex => `0x61${numberToHex(number, { size: 2 }).slice(2)}`;

function toPoint(answer: Hex): StoredPoint {
  const [value, updatedAt, status] = [slice(answer, 0, 32), slice(answer, 32, 64), slice(answer, 64, 96)];
  return { value, updatedAt: hexToBigInt(updatedAt), status: QUERY_STATUSES[Number(status)] ?? "INVALID" };
}

/** In their order, as many to each as fit into one call. */
function chunks(queries: readonly Hex[]): Hex[][] {
  const all: Hex[][] = [];
  let room = 0;
  for (const query of queries) {
    const needed = size(query) + 100;
    if (needed > room) {
      all.push([]);
      room = MAX_CODE_BYTES;
    }
    room -= needed;
    all.at(-1)?.push(query);
  }
  return all;
}

const otherAnswer = (rpc: Rpc) =>
  new RpcError("failed", rpc.chainId, "eth_call", "answered something that no dataset answers");
