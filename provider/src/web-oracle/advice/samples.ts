import { err, ok } from "@dataset-oracle/protocol/result";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import { schemaProblems } from "@dataset-oracle/service/config/schema-problems";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { Egress } from "@dataset-oracle/service/egress/egress";
import { type Static, Type } from "@sinclair/typebox";
import type { FailureCode, Reading } from "../../source/source-failure.js";
import { askSources } from "../ask-sources.js";
import { type BoundRequest, type CompiledRequest, compileRequestSpec } from "../compile-request-spec.js";
import { extractValues } from "../extract-values.js";
import type { ProviderReadings } from "./parse-readings.js";
import { repeatAtInterval } from "./repeat-at-interval.js";

const strict = { additionalProperties: false } as const;
const Hash = Type.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256, in hex." });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);

/** The answers of a spec's sources at several times: everything the advice is based on, so that it can be computed again. */
export const Samples = Type.Object(
  {
    version: Type.Literal(1),
    spec: Type.Unknown({ description: "The request spec." }),
    arguments: Type.Array(Type.String()),
    interval_seconds: Type.Number({ exclusiveMinimum: 0 }),
    samples: Type.Array(
      Type.Object(
        {
          at: Type.Integer({ description: "When the sources were asked, in milliseconds since 1970." }),
          answers: Type.Array(
            Type.Object({ text: orNull(Hash), failure: orNull(Type.String()), detail: orNull(Type.String()) }, strict),
          ),
        },
        strict,
      ),
    ),
    texts: Type.Record(Hash, Type.String(), { ...strict, description: "The answers, by the SHA-256 of their UTF-8." }),
  },
  strict,
);
export type Samples = Static<typeof Samples>;

/** The maximum amount of distinct answer text that is kept, in UTF-16 code units. */
const MAX_TEXT = 64 * 1024 * 1024;

interface Sampling {
  readonly count: number;
  readonly intervalSeconds: number;
  /** Ends the sampling early. */
  readonly signal: AbortSignal;
  /** Called after each sample. */
  readonly onSample: (taken: number, combined: ReturnType<BoundRequest["combine"]>) => void;
}

/** Asks the sources of a request again and again, at equal intervals, and keeps what they answered. */
export async function takeSamples(
  { spec }: CompiledRequest,
  bound: BoundRequest,
  args: readonly string[],
  egress: Pick<Egress, "fetchText">,
  { count, intervalSeconds, signal, onSample }: Sampling,
): Promise<Samples> {
  const samples: Samples["samples"] = [];
  const texts: Samples["texts"] = {};
  let kept = 0;
  for await (const _ of repeatAtInterval(count, intervalSeconds, signal)) {
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
    onSample(samples.length, bound.combine(readingsOf(bound, answers, texts)));
    if (kept >= MAX_TEXT) break;
  }
  return { version: 1, spec, arguments: [...args], interval_seconds: intervalSeconds, samples, texts };
}

/**
 * Reads samples that were kept, with the spec they belong to.
 *
 * @throws ConfigError when the file is not valid, or a text was changed.
 */
export function loadSamples(file: string): { samples: Samples; request: CompiledRequest; bound: BoundRequest } {
  const json = readJsonFile(file);
  const problems = schemaProblems(Samples, json);
  if (problems.length > 0)
    throw new ConfigError(`${file} is not a file that advise --keep wrote:\n  ${problems.join("\n  ")}`);
  const samples = json as Samples;
  const request = compileRequestSpec(samples.spec);
  if (!request.ok) throw new ConfigError(`${file}: its spec is not valid: ${request.error}`);
  const bound = request.value.bind(samples.arguments);
  if (!bound.ok) throw new ConfigError(`${file}: ${bound.error}`);
  const changed = Object.entries(samples.texts).find(([hash, text]) => sha256(text) !== hash);
  if (changed !== undefined)
    throw new ConfigError(`${file}: an answer does not match its hash, so it was changed. Use the original file.`);
  const count = bound.value.sources.length;
  const isWhole = samples.samples.every(
    ({ answers }) =>
      answers.length === count &&
      answers.every(({ text, failure }) => (text === null ? failure !== null : Object.hasOwn(samples.texts, text))),
  );
  if (!isWhole) throw new ConfigError(`${file}: an answer of one of its ${count} sources is missing. Sample again.`);
  return { samples, request: request.value, bound: bound.value };
}

/** Finds the values in all samples. */
export const readingsOfSamples = (bound: BoundRequest, { samples, texts }: Samples): ProviderReadings => ({
  provider: "here",
  samples: samples.map(({ answers }) => readingsOf(bound, answers, texts)),
});

/** Finds the values in the answers of one sample, one for each source. */
function readingsOf(
  bound: BoundRequest,
  answers: Samples["samples"][number]["answers"],
  texts: Samples["texts"],
): Reading<bigint>[] {
  const { readings } = extractValues(
    bound.sources,
    answers.map(({ text }) => (text === null ? null : (texts[text] ?? null))),
  );
  return answers.map(({ failure, detail }, index) => {
    const reading = readings[index] ?? null;
    if (reading === null) return err({ code: (failure ?? "unreachable") as FailureCode, detail: detail ?? "" });
    return reading.ok ? ok(reading.value) : reading;
  });
}
