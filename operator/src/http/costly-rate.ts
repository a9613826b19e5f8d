import type { RateLimit } from "@dataset-oracle/service/http-server/rate-limit";

/** Makes the limit of a route of which each request costs as much as several data requests. */
export const costlyRate = (name: string, requestsPerMinute: number, costInRequests: number): RateLimit => ({
  name,
  perMinute: Math.ceil(requestsPerMinute / costInRequests),
});
