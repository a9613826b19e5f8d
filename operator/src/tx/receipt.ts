import { Type } from "@sinclair/typebox";
import { type Hex, hexToNumber, numberToHex } from "viem";
import { Bytes32, Quantity, type Rpc, requestAs } from "../chain/rpc.js";

/** A transaction in a block. */
export interface Mined {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly isReverted: boolean;
}

const Receipt = Type.Union([Type.Null(), Type.Object({ blockNumber: Quantity, blockHash: Bytes32, status: Quantity })]);
const Block = Type.Union([Type.Null(), Type.Object({ hash: Bytes32 })]);
const Transaction = Type.Union([Type.Null(), Type.Object({ hash: Bytes32 })]);

/** @returns Null when the node knows no block with it. */
export async function readMined(rpc: Rpc, hash: Hex): Promise<Mined | null> {
  const receipt = await requestAs(rpc, Receipt, "eth_getTransactionReceipt", [hash]);
  if (receipt === null) return null;
  const { blockNumber, blockHash, status } = receipt;
  return { blockNumber: hexToNumber(blockNumber), blockHash, isReverted: hexToNumber(status) === 0 };
}

/** @returns Null when the chain is not so long. */
export async function readBlockHash(rpc: Rpc, blockNumber: number): Promise<Hex | null> {
  const block = await requestAs(rpc, Block, "eth_getBlockByNumber", [numberToHex(blockNumber), false]);
  return block?.hash ?? null;
}

/** Whether the node has a transaction, mined or not. */
export async function isKnown(rpc: Rpc, hash: Hex): Promise<boolean> {
  return (await requestAs(rpc, Transaction, "eth_getTransactionByHash", [hash])) !== null;
}
