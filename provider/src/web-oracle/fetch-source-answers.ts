import type { Egress, EgressResult } from "@dataset-oracle/service/egress/egress";
import { withDefaultHeaders } from "../source/default-headers.js";
import { type AnswerText, judgeText } from "../source/judge-answer.js";
import type { Reading } from "../source/source-failure.js";
import { MAX_BYTES, SOURCE_MS } from "../source/source-reader.js";
import type { BoundRequest } from "./compile-spec.js";

/** The answer of one source. */
export interface AskedSource {
  readonly answer: EgressResult;
  /** The text of the answer, or the reason why it cannot be used. */
  readonly judged: Reading<AnswerText>;
}

/** Asks each source of a request once, with a provider's headers, deadline and size limit. */
export function askSources(
  { sources }: Pick<BoundRequest, "sources">,
  egress: Pick<Egress, "fetchText">,
): Promise<AskedSource[]> {
  const limits = { timeoutMs: SOURCE_MS, maxBytes: MAX_BYTES };
  return Promise.all(
    sources.map(async ({ request }) => {
      const answer = await egress.fetchText(withDefaultHeaders(request), limits);
      return { answer, judged: judgeText(answer, Date.now()) };
    }),
  );
}
