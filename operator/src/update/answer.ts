import { keyToAscii } from "@dataset-oracle/protocol/key";
import { type QueryStatus, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { SignedValue } from "@dataset-oracle/protocol/update";
import type { DataAnswer, DatasetKind, UnsentTransaction } from "@dataset-oracle/protocol/wire";
import { type Hex, hexToBigInt, numberToHex } from "viem";
import type { DataPoint } from "../data-point.js";

/** What is, or is about to be, stored of a key. */
export interface Stored {
  readonly status: QueryStatus;
  /** 32 bytes. */
  readonly value: Hex;
  /** The round's, in seconds since 1970. */
  readonly timestamp: bigint;
  readonly reports: readonly SignedValue[];
}

/** What is answered of a data point, whoever sends the transaction. */
export function toAnswer(
  { network, dataset, key }: DataPoint,
  { status, value, timestamp, reports }: Stored,
): DataAnswer {
  return {
    network_id: network.chainId,
    dataset: dataset.address,
    key: keyToAscii(key),
    key_hex: key,
    status,
    value: formatValue(dataset.kind, status === "OK" ? value : ZERO_VALUE),
    timestamp: Number(timestamp),
    reports: reports.map((report) => ({ ...report, value: formatValue(dataset.kind, report.value) })),
  };
}

/** An update's transaction, as `eth_sendTransaction` takes it. */
export function toUnsentTransaction(
  { network, dataset }: DataPoint,
  { data, gasLimit }: { readonly data: Hex; readonly gasLimit: bigint },
): UnsentTransaction {
  return {
    chainId: numberToHex(network.chainId),
    to: dataset.address,
    data,
    value: "0x0",
    gas: numberToHex(gasLimit),
  };
}

/** A value as it is answered: a decimal string of a median dataset, else 32 bytes in hex. */
export function formatValue(kind: DatasetKind, value: Hex): string {
  return kind === "median" ? hexToBigInt(value).toString() : value;
}
