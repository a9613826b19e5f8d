import { SpecAdviceRequest } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import { schemaProblems } from "@dataset-oracle/service/config/schema-problems";
import { type BoundRequest, type CompiledRequest, compileRequestSpec } from "../compile-request-spec.js";
import { loadSamples } from "./load-samples.js";
import type { ProviderReadings } from "./parse-readings.js";
import { parseReadings } from "./parse-readings.js";
import { readingsOfSamples } from "./samples.js";

/** Everything that advice is computed from. */
export interface KeptReadings {
  readonly request: CompiledRequest;
  readonly bound: BoundRequest;
  readonly readings: readonly ProviderReadings[];
  readonly intervalSeconds: number;
}

/**
 * Reads what was kept: the answers of a spec's sources, or what several providers have shown.
 *
 * @throws ConfigError when the file is not valid.
 */
export function loadKeptReadings(file: string): KeptReadings {
  const json = readJsonFile(file);
  if (typeof json === "object" && json !== null && "providers" in json) return readProviders(file, json);
  const { samples, request, bound } = loadSamples(file);
  const readings = [readingsOfSamples(bound, samples)];
  return { request, bound, readings, intervalSeconds: samples.interval_seconds };
}

function readProviders(file: string, json: object): KeptReadings {
  const problems = schemaProblems(SpecAdviceRequest, json);
  if (problems.length > 0)
    throw new ConfigError(`${file} is not a file that advise --keep wrote:\n  ${problems.join("\n  ")}`);
  const { spec, arguments: args, interval_seconds, providers } = json as SpecAdviceRequest;
  const request = compileRequestSpec(spec);
  if (!request.ok) throw new ConfigError(`${file}: its spec is not valid: ${request.error}`);
  const bound = request.value.bind(args);
  if (!bound.ok) throw new ConfigError(`${file}: ${bound.error}`);
  const readings = parseReadings(providers, request.value.kind, bound.value.sources.length);
  if (!readings.ok) throw new ConfigError(`${file}: ${readings.error}`);
  return { request: request.value, bound: bound.value, readings: readings.value, intervalSeconds: interval_seconds };
}
