import type { EgressFailure } from "@dataset-oracle/service/egress/egress";
import type { FetchFailure } from "@dataset-oracle/service/http-client/fetch-result";

/** Completes the sentence "The provider ...", or "The node ...". */
export function describeFetchFailure({ code, detail }: FetchFailure<EgressFailure>): string {
  if (code === "unreachable") return `could not be reached (${detail})`;
  return code === "timeout" ? `gave ${detail}` : detail;
}
