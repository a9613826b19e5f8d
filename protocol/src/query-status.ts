/** The statuses of a query's answer or of an update; the index is the contract's `QueryStatus`. */
export const QUERY_STATUSES = ["INVALID", "OK", "NOT_AVAILABLE", "DISAGREEMENT"] as const;
export type QueryStatus = (typeof QUERY_STATUSES)[number];
