import type { Egress, EgressResult } from "@dataset-oracle/service/egress/egress";
import { MAX_BYTES, SOURCE_MS, withHeaders } from "../source/reader.js";
import type { BoundRequest } from "./compile.js";

/** The answer of one source, and how long it took in milliseconds. */
export interface AskedSource {
  readonly answer: EgressResult;
  readonly ms: number;
}

/** Asks each source of a request once, as a provider does. */
export function askSources(
  { sources }: Pick<BoundRequest, "sources">,
  egress: Pick<Egress, "fetchText">,
): Promise<AskedSource[]> {
  const limits = { timeoutMs: SOURCE_MS, maxBytes: MAX_BYTES };
  return Promise.all(
    sources.map(async ({ request }) => {
      const start = performance.now();
      const answer = await egress.fetchText(withHeaders(request), limits);
      return { answer, ms: Math.round(performance.now() - start) };
    }),
  );
}
