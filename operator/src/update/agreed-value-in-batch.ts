import { agreedValue } from "@dataset-oracle/protocol/agreed-value";
import { isMissing } from "@dataset-oracle/protocol/batch-report";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import type { Hex } from "viem";

/** The value of a key on which the data providers agree now. */
export type AgreedValue = { readonly status: "OK"; readonly value: Hex } | { readonly status: "NOT_AVAILABLE" };

/**
 * Finds the value on which the rows of a batch agree for one of its keys, as the contract will.
 *
 * @param members The size of the whole committee.
 * @param index The index of the key in the batch.
 * @returns Null without a quorum.
 */
export function agreedValueInBatch(
  kind: DatasetKind,
  members: number,
  rows: readonly SignedRow[],
  index: number,
): AgreedValue | null {
  const values = rows.flatMap((row) => (isMissing(row, index) ? [] : (row.values[index] ?? [])));
  if (isQuorum(values.length, members - values.length)) return { status: "OK", value: agreedValue(kind, values) };
  const missing = rows.length - values.length;
  return isQuorum(missing, members - missing) ? { status: "NOT_AVAILABLE" } : null;
}
