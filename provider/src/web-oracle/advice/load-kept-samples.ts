import { SpecAdviceRequest } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import { schemaProblems } from "@dataset-oracle/service/config/schema-problems";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import { compileSpec } from "../compile-spec.js";
import type { AdviceInput } from "./compute-advice.js";
import { parseReadings } from "./parse-readings.js";
import { readingsOfSamples } from "./readings-of-samples.js";
import { SampledAnswers } from "./sampled-answers.js";

/**
 * Reads what was kept: the answers of a spec's sources, or what several providers have shown.
 *
 * @throws ConfigError when the file is not valid, or a text was changed.
 */
export function loadKeptSamples(file: string): AdviceInput {
  const json = readJsonFile(file);
  const isOfProviders = typeof json === "object" && json !== null && "providers" in json;
  const problems = schemaProblems(isOfProviders ? SpecAdviceRequest : SampledAnswers, json);
  if (problems.length > 0)
    throw new ConfigError(`${file} is not a file that advise --keep wrote:\n  ${problems.join("\n  ")}`);
  const kept = json as SpecAdviceRequest | SampledAnswers;
  const compiled = compileSpec(kept.spec);
  if (!compiled.ok) throw new ConfigError(`${file}: its spec is not valid: ${compiled.error}`);
  const bound = compiled.value.bind(kept.arguments);
  if (!bound.ok) throw new ConfigError(`${file}: ${bound.error}`);
  const common = { compiled: compiled.value, bound: bound.value, intervalSeconds: kept.interval_seconds };
  const count = bound.value.sources.length;
  if ("samples" in kept) {
    requireWhole(file, kept, count);
    return { ...common, readings: [readingsOfSamples(bound.value, kept)] };
  }
  const readings = parseReadings(kept.providers, compiled.value.kind, count);
  if (!readings.ok) throw new ConfigError(`${file}: ${readings.error}`);
  return { ...common, readings: readings.value };
}

/** @throws ConfigError when an answer of one of the sources is missing or was changed. */
function requireWhole(file: string, { samples, texts }: SampledAnswers, count: number): void {
  const changed = Object.entries(texts).find(([hash, text]) => sha256(text) !== hash);
  if (changed !== undefined)
    throw new ConfigError(`${file}: an answer does not match its hash, so it was changed. Use the original file.`);
  const isWhole = samples.every(
    ({ answers }) =>
      answers.length === count &&
      answers.every(({ text, failure }) => (text === null ? failure !== null : Object.hasOwn(texts, text))),
  );
  if (!isWhole) throw new ConfigError(`${file}: an answer of one of its ${count} sources is missing. Sample again.`);
}
