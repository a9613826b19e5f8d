import { type Report, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { numberToHex } from "viem";

/** What a provider says of a data point at a round, once and for all. */
export type Decision = Pick<Report, "outcome" | "value">;

/** @param value As the 32 bytes' number; null when there is no data. */
export const toDecision = (value: bigint | null): Decision =>
  value === null
    ? { outcome: "NOT_AVAILABLE", value: ZERO_VALUE }
    : { outcome: "OK", value: numberToHex(value, { size: 32 }) };
