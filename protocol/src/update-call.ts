import {
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  getAbiItem,
  type Hex,
  sliceHex,
  toFunctionSelector,
} from "viem";
import { datasetAbi } from "./abi/dataset.js";
import { type PackedUpdate, unpackUpdate } from "./packed-update.js";

/** The selector of the function that takes packed bytes, by their first byte. Hashed once. */
const SELECTORS: ReadonlyMap<string, Hex> = new Map([
  ["0x01", toFunctionSelector(getAbiItem({ abi: datasetAbi, name: "update" }))],
  ["0x02", toFunctionSelector(getAbiItem({ abi: datasetAbi, name: "updateNotAvailable" }))],
  ["0x03", toFunctionSelector(getAbiItem({ abi: datasetAbi, name: "updateBatch" }))],
]);
/** Each of these functions takes the packed bytes and nothing else. */
const ARGUMENTS = [{ type: "bytes" }] as const;

const selectorFor = (packed: Hex) => SELECTORS.get(packed.slice(0, 4));

/**
 * Encodes the call of the dataset's function that takes these packed bytes.
 *
 * @throws When the bytes begin like no packed update.
 */
export function encodeUpdateCall(packed: Hex): Hex {
  const selector = selectorFor(packed);
  if (selector === undefined) throw new Error(`The bytes begin with ${packed.slice(0, 4)}. Pass a packed update.`);
  return concatHex([selector, encodeAbiParameters(ARGUMENTS, [packed])]);
}

/**
 * Decodes the calldata of an update, single or batch, without checking its signatures. Bytes behind the argument are
 * ignored, as the contract ignores them.
 *
 * @returns Null for any other call, and for bytes that the contract refuses.
 */
export function decodeUpdateCall(data: Hex): PackedUpdate | null {
  const selector = data.slice(0, 10);
  if (![...SELECTORS.values()].includes(selector as Hex)) return null;
  const packed = argumentOf(data);
  if (packed === null || selectorFor(packed) !== selector) return null;
  const unpacked = unpackUpdate(packed);
  return unpacked.ok ? unpacked.value : null;
}

function argumentOf(data: Hex): Hex | null {
  try {
    return decodeAbiParameters(ARGUMENTS, sliceHex(data, 4))[0];
  } catch {
    return null;
  }
}
