import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { Egress } from "@dataset-oracle/service/egress/egress";
import type { BoundRequest, CompiledRequest } from "../compile-spec.js";
import { askSources } from "../fetch-source-answers.js";
import { readingsOfSample } from "./readings-of-samples.js";
import { repeatAtInterval, type Schedule } from "./repeat-at-interval.js";
import type { SampledAnswers } from "./sampled-answers.js";

/** The amount of distinct answer text after which sampling ends early, in UTF-16 code units. */
export const MAX_SAMPLED_TEXT = 64 * 1024 * 1024;

interface Sampling extends Schedule {
  /** Called after each sample. */
  readonly onSample: (taken: number, combined: ReturnType<BoundRequest["combine"]>) => void;
}

/** Asks the sources of a request again and again, at equal intervals, and keeps what they answered. */
export async function sampleSources(
  { spec }: CompiledRequest,
  bound: BoundRequest,
  args: readonly string[],
  egress: Pick<Egress, "fetchText">,
  { onSample, ...schedule }: Sampling,
): Promise<SampledAnswers> {
  const samples: SampledAnswers["samples"] = [];
  const texts: SampledAnswers["texts"] = {};
  let kept = 0;
  for await (const _ of repeatAtInterval(schedule)) {
    const at = Date.now();
    const answers = (await askSources(bound, egress)).map(({ judged }) => {
      if (!judged.ok) return { text: null, failure: judged.error.code, detail: judged.error.detail };
      const { text } = judged.value;
      const hash = sha256(text);
      if (!Object.hasOwn(texts, hash)) kept += text.length;
      texts[hash] = text;
      return { text: hash, failure: null, detail: null };
    });
    samples.push({ at, answers });
    onSample(samples.length, bound.combine(readingsOfSample(bound, answers, texts)));
    if (kept >= MAX_SAMPLED_TEXT) break;
  }
  return { version: 1, spec, arguments: [...args], interval_seconds: schedule.intervalSeconds, samples, texts };
}
