import { keyToAscii } from "@dataset-oracle/protocol/key";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { DataAnswer, DatasetKind } from "@dataset-oracle/protocol/wire";
import { type Hex, hexToBigInt, numberToHex } from "viem";
import type { DataPoint } from "../data-point.js";
import type { Call } from "../tx/job.js";
import type { Update } from "./build.js";

/** Answers a data request, whoever sends the transaction. */
export function toAnswer(
  { network, dataset, key }: DataPoint,
  { status, value, round, reports }: Pick<Update, "status" | "value" | "round" | "reports">,
): DataAnswer {
  return {
    network_id: network.chainId,
    dataset: dataset.address,
    key: keyToAscii(key),
    key_hex: key,
    status,
    value: formatValue(dataset.kind, status === "OK" ? value : ZERO_VALUE),
    timestamp: Number(round),
    reports: reports.map((report) => {
      const { provider, signature } = report;
      return { provider, value: formatValue(dataset.kind, report.value), signature };
    }),
  };
}

/** Writes a call for the caller to send, as nodes and as libraries take it. */
export function toUnsent(
  chainId: number,
  { to, data, gas }: Call,
): Required<Pick<DataAnswer, "transaction" | "transaction_request">> {
  const [hex, number] = [numberToHex(gas), Number(gas)];
  return {
    transaction: { chainId: numberToHex(chainId), to, data, value: "0x0", gas: hex, gasLimit: hex },
    transaction_request: { chainId, to, data, value: 0, gas: number, gasLimit: number },
  };
}

/** Writes a value as it is answered: a decimal string for a median dataset, else 32 bytes in hex. */
export function formatValue(kind: DatasetKind, value: Hex): string {
  return kind === "median" ? hexToBigInt(value).toString() : value;
}
