import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { type Hex, numberToHex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import type { RoundAnswer } from "../update/answers.js";
import type { KeyUpdate } from "../update/builder.js";

/** Callers who share the work share its answer, which is formatted and serialized once. */
const formatted = new WeakMap<RoundAnswer, DataAnswer>();

/** Formats the answer to a data request. */
export function toDataAnswer(dataset: Dataset, key: Hex, answer: RoundAnswer): DataAnswer {
  const known = formatted.get(answer) ?? format(dataset, key, answer);
  formatted.set(answer, known);
  return known;
}

function format({ chainId, address, kind }: Dataset, key: Hex, answer: RoundAnswer): DataAnswer {
  const { round, outcome, transaction, isFresh } = answer;
  const { status, value, reports } = outcome;
  const isSent = transaction === null || typeof transaction === "string";
  return {
    network_id: chainId,
    dataset: address,
    key: keyToAscii(key),
    key_hex: key,
    status,
    value: formatValue(kind, status === "OK" ? value : ZERO_VALUE),
    timestamp: Number(round),
    reports: reports.map(({ provider, value, signature, reason }) => {
      return { provider, value: formatValue(kind, value), signature, ...(reason !== undefined && { reason }) };
    }),
    ...(isSent ? { transaction_hash: transaction } : toUnsent(chainId, transaction)),
    ...(isFresh && { fresh: true }),
  };
}

/** Formats an update for the caller's contract, and its call for the caller to send: as nodes take it, and as libraries do. */
function toUnsent(
  chainId: number,
  { packed, call: { to, data, gas } }: KeyUpdate,
): Required<Pick<DataAnswer, "update" | "transaction" | "transaction_request">> {
  const [hex, number] = [numberToHex(gas), Number(gas)];
  return {
    update: packed,
    transaction: { chainId: numberToHex(chainId), to, data, gas: hex, gasLimit: hex },
    transaction_request: { chainId, to, data, gas: number, gasLimit: number },
  };
}
