import type { Egress, EgressResult } from "@dataset-oracle/service/egress/egress";
import { MAX_BYTES, SOURCE_MS, withHeaders } from "../source/reader.js";
import type { BoundRequest } from "./compile.js";

/** Asks each source of a request once, as a provider does. */
export function askSources(
  { sources }: Pick<BoundRequest, "sources">,
  egress: Pick<Egress, "fetchText">,
): Promise<EgressResult[]> {
  const limits = { timeoutMs: SOURCE_MS, maxBytes: MAX_BYTES };
  return Promise.all(sources.map(({ request }) => egress.fetchText(withHeaders(request), limits)));
}
