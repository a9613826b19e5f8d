import { decodeFunctionData, getAbiItem, type Hex } from "viem";
import { datasetAbi } from "./abi/dataset.js";

/** Only the functions that update: on every call, viem hashes functions' signatures until one matches. */
const UPDATE_ABI = [
  getAbiItem({ abi: datasetAbi, name: "update" }),
  getAbiItem({ abi: datasetAbi, name: "updateNotAvailable" }),
  getAbiItem({ abi: datasetAbi, name: "updateBatch" }),
] as const;

/** Decodes the calldata of an update, single or batch. Returns null for any other call, and for malformed arguments. */
export function decodeUpdateArguments(data: Hex) {
  try {
    return decodeFunctionData({ abi: UPDATE_ABI, data });
  } catch {
    return null;
  }
}
