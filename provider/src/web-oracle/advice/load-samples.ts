import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import { schemaProblems } from "@dataset-oracle/service/config/schema-problems";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import { type BoundRequest, type CompiledRequest, compileRequestSpec } from "../compile-request-spec.js";
import { Samples } from "./samples.js";

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
