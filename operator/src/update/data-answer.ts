import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import type { DataPoint } from "../data-point.js";
import type { Update } from "./update-builder.js";

/** Makes the answer to a data request, without the transaction or its hash. */
export function toDataAnswer(
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
