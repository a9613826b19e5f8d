import { type Report, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { numberToHex } from "viem";

/** A provider's final answer for a data point at a round: a value, or that there is none. */
export type Decision = Pick<Report, "outcome" | "value">;

/** Makes a decision from a value, or from null when there is none. */
export const toDecision = (value: bigint | null): Decision =>
  value === null
    ? { outcome: "NOT_AVAILABLE", value: ZERO_VALUE }
    : { outcome: "OK", value: numberToHex(value, { size: 32 }) };
