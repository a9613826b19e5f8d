import { type Report, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { numberToHex } from "viem";

/** A provider's final answer for a data point at a round: a value, or that there is none. */
export type Decision = Pick<Report, "outcome" | "value">;

/** Makes a decision of a value as a number, or of null when there is no data. */
export const toDecision = (value: bigint | null): Decision =>
  value === null
    ? { outcome: "NOT_AVAILABLE", value: ZERO_VALUE }
    : { outcome: "OK", value: numberToHex(value, { size: 32 }) };
