import { withoutFinalSlashes } from "@dataset-oracle/protocol/base-url";
import { type SpecAdviceRequest, sampleOf } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { SpecTrial, type SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { postText } from "@dataset-oracle/service/http-client/trusted-request";
import { Value } from "@sinclair/typebox/value";
import { repeatAtInterval, type Schedule } from "./repeat-at-interval.js";

/** A provider may take 5 s for its sources, and a few for the rest. */
const LIMITS = { timeoutMs: 15_000, maxBytes: 256 * 1024 };

interface ProviderSampling extends Schedule {
  /** Called after each sample with each provider's result as text for people: the value, or why there is none. */
  readonly onSample: (taken: number, shown: readonly string[]) => void;
}

/** Has several providers try a spec again and again, all at the same time. */
export async function sampleRemoteProviders(
  urls: readonly string[],
  spec: SpecTrialRequest,
  { onSample, ...schedule }: ProviderSampling,
): Promise<SpecAdviceRequest> {
  const providers: SpecAdviceRequest["providers"] = urls.map((provider) => ({ provider, samples: [] }));
  const body = JSON.stringify(spec);
  for await (const taken of repeatAtInterval(schedule)) {
    const trials = await Promise.all(urls.map((url) => tryAt(url, body)));
    for (const [index, trial] of trials.entries()) {
      providers[index]?.samples.push(typeof trial === "string" ? null : sampleOf(trial));
    }
    onSample(
      taken + 1,
      trials.map((trial) => (typeof trial === "string" ? trial : (trial.combined.text ?? "no value"))),
    );
  }
  return { ...spec, interval_seconds: schedule.intervalSeconds, providers };
}

/** Returns a provider's trial, or why there is none. */
async function tryAt(url: string, body: string): Promise<SpecTrial | string> {
  const answer = await postText(`${withoutFinalSlashes(url)}/specs/try`, {}, body, LIMITS);
  if (!answer.ok) return answer.error.detail;
  const { status, text } = answer.value;
  const json = parseJson(text);
  if (status === 200) return Value.Check(SpecTrial, json) ? json : "answered with something other than a trial";
  const { title, detail } = (json ?? {}) as { title?: unknown; detail?: unknown };
  return typeof title === "string" && typeof detail === "string" ? `${title} ${detail}` : `answered HTTP ${status}`;
}
