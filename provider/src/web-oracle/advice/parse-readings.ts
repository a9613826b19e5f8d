import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { ProviderSample, SpecAdviceRequest } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { parseValue } from "@dataset-oracle/protocol/value-in-json";
import type { FailureCode, Reading } from "../../source/source-failure.js";

/** One provider's readings, taken at equal intervals and at the same times as the others'. */
export interface ProviderReadings {
  readonly provider: string;
  /** For each time, the reading of each source; null when the provider did not answer. */
  readonly samples: readonly (readonly Reading<bigint>[] | null)[];
}

/** Reads the samples of several providers. Fails unless they fit a spec of this kind with this many sources. */
export function parseReadings(
  providers: SpecAdviceRequest["providers"],
  kind: DatasetKind,
  sources: number,
): Result<ProviderReadings[]> {
  const [first] = providers;
  const other = providers.findIndex(({ samples }) => samples.length !== first?.samples.length);
  if (other !== -1) return err(`/providers/${other}/samples: all providers must have the same number of samples.`);
  const parsed: ProviderReadings[] = [];
  for (const [index, { provider, samples }] of providers.entries()) {
    const readings = samples.map((sample) => parseSample(sample, kind, sources));
    const wrong = readings.indexOf(undefined);
    if (wrong !== -1) {
      return err(
        `/providers/${index}/samples/${wrong}: must have ${sources} source(s), each with either a failure or a value as ` +
          `${kind === "median" ? "a decimal string" : "32 bytes in hex"}.`,
      );
    }
    parsed.push({ provider, samples: readings.map((sample) => sample ?? null) });
  }
  return ok(parsed);
}

function parseSample(sample: ProviderSample, kind: DatasetKind, sources: number): Reading<bigint>[] | null | undefined {
  if (sample === null) return null;
  const readings = sample.map(({ value, failure }): Reading<bigint> | undefined => {
    if (value === null) return failure === null ? undefined : err({ code: failure as FailureCode, detail: "" });
    const parsed = failure === null ? parseValue(kind, value) : null;
    return parsed === null ? undefined : ok(BigInt(parsed));
  });
  return readings.length === sources && readings.every((one) => one !== undefined) ? readings : undefined;
}
