export const DATASET_KINDS = ["median", "majority"] as const;
export type DatasetKind = (typeof DATASET_KINDS)[number];
