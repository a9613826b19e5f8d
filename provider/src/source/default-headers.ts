import type { FetchRequest } from "@dataset-oracle/service/egress/fetch-text";

/** Adds the headers that every source is sent by default; some exchanges refuse requests without a user agent. */
export const withDefaultHeaders = (request: FetchRequest): FetchRequest => ({
  ...request,
  headers: { accept: "application/json", "user-agent": "dataset-oracle-provider", ...request.headers },
});
