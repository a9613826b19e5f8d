import { serverSentEvents } from "@dataset-oracle/protocol/client/server-sent-events";
import { streamBodyText } from "@dataset-oracle/protocol/client/stream-body-text";
import type {
  AdviceProgress,
  DatasetAdviceRequest,
  SpecAdvice,
} from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { BROKEN_OFF, OPERATOR_URL, type ReadError, readProblem, UNREACHABLE, unexpectedAnswer } from "../operator-api";

/** Time for late samples, the last trial and the advice, beyond the sampling itself. */
const SLACK_MS = 60_000;

/**
 * Has the operator sample its providers. Never throws.
 *
 * @param signal Ends the sampling, also at the operator.
 * @returns Null if the signal ended it.
 */
export async function fetchAdvice(
  body: DatasetAdviceRequest,
  onSample: (progress: AdviceProgress) => void,
  signal: AbortSignal,
): Promise<Result<SpecAdvice, ReadError> | null> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(1_000 * body.seconds + SLACK_MS)]);
  try {
    const response = await fetch(`${OPERATOR_URL}/specs/advise`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream, application/problem+json" },
      body: JSON.stringify(body),
      signal: ended,
    });
    if (!response.ok) return err(await readProblem(response));
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream) return err(unexpectedAnswer(response.status));
    for await (const { event, data } of serverSentEvents(streamBodyText(response.body, ended))) {
      const answer: unknown = JSON.parse(data);
      if (event === "sample") onSample(answer as AdviceProgress);
      if (event === "answer") return ok(answer as SpecAdvice);
      if (event === "problem") return err({ retryAfter: null, ...(answer as Omit<ReadError, "retryAfter">) });
    }
    return err(BROKEN_OFF);
  } catch {
    return signal.aborted ? null : err(UNREACHABLE);
  }
}
