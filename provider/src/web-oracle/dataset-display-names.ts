import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";

/** The Web Oracle's two datasets, as the documentation calls them. */
export const DATASET_DISPLAY_NAMES: Readonly<Record<DatasetKind, string>> = { median: "number", majority: "bytes" };
