import { writeFileSync } from "node:fs";
import {
  MAX_ADVICE_SAMPLES,
  MAX_SAMPLED_PROVIDERS,
  type SpecAdviceRequest,
} from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { styleOf } from "../../cli/text-style.js";
import { describeWebOracleValue } from "../../cli/web-oracle-value-text.js";
import { printable } from "../../printable.js";
import { type AdviceInput, advise } from "../advice/compute-advice.js";
import { adviceToText } from "../advice/format-advice.js";
import { loadKeptSamples } from "../advice/load-kept-samples.js";
import { parseReadings } from "../advice/parse-readings.js";
import { readingsOfSamples } from "../advice/readings-of-samples.js";
import type { Schedule } from "../advice/repeat-at-interval.js";
import { sampleRemoteProviders } from "../advice/sample-remote-providers.js";
import { MAX_SAMPLED_TEXT, sampleSources } from "../advice/sample-sources.js";
import type { SampledAnswers } from "../advice/sampled-answers.js";
import type { BoundRequest } from "../compile-spec.js";
import type { PublishableSpec } from "../publishable-spec.js";
import type { CliCommand } from "./arguments.js";
import { openEgress } from "./open-egress.js";
import { bindSpec, loadSpec } from "./spec-file.js";

/** The bounds of a sampling: at most a day. */
const MAX_SAMPLES = 1_000;
const MAX_INTERVAL = 600;
const MAX_SECONDS = 86_400;

type Options = CliCommand["options"];

/**
 * Runs `web-oracle advise`: samples a spec's sources over some time, here or at several providers, or reads samples
 * that were kept, and says which rule fits the value.
 *
 * @throws ConfigError
 */
export async function adviseOnSpec({ specFile, args, options }: CliCommand): Promise<void> {
  if (options.replay !== undefined) refuseSampling(specFile, options);
  const input = options.replay === undefined ? await sample(specFile, args, options) : loadKeptSamples(options.replay);
  const advice = advise(input);
  console.log(adviceToText(input.compiled, input.bound, advice, styleOf(process.stdout, process.env)));
  process.exitCode = advice.with_value > 0 ? 0 : 1;
}

/** @throws ConfigError when `--replay` is combined with a spec or another option. */
function refuseSampling(specFile: string | null, { replay: _, help: __, ...others }: Options): void {
  if (specFile !== null) throw new ConfigError(`The file of --replay contains the spec. Leave out ${specFile}.`);
  const [other] = Object.keys(others);
  if (other !== undefined) throw new ConfigError(`--replay takes no samples. Leave out --${other}.`);
}

async function sample(specFile: string | null, args: readonly string[], options: Options): Promise<AdviceInput> {
  if (specFile === null) throw new ConfigError("Name the file of the spec, or samples that were kept: --replay FILE.");
  const urls = options.providers === undefined ? null : urlsOf(options.providers);
  const count = numberOf(options.samples, "samples", 2, urls === null ? MAX_SAMPLES : MAX_ADVICE_SAMPLES, 30);
  const intervalSeconds = numberOf(options.interval, "interval", 1, MAX_INTERVAL, 2);
  if (count * intervalSeconds > MAX_SECONDS) {
    throw new ConfigError(
      `--samples ${count} times --interval ${intervalSeconds} is more than a day. Lower one of them.`,
    );
  }
  const spec = loadSpec(specFile);
  const bound = bindSpec(spec, args);
  const ending = new AbortController();
  const end = () => ending.abort();
  process.once("SIGINT", end);
  console.error(`${count} samples, ${intervalSeconds} s apart. Press Ctrl-C to end early.`);
  try {
    const schedule = { count, intervalSeconds, signal: ending.signal };
    const readings = await (urls === null
      ? sampleHere(spec, bound, args, options, schedule)
      : sampleAt(urls, spec, args, options, schedule));
    return { compiled: spec.compiled, bound, readings, intervalSeconds };
  } finally {
    process.removeListener("SIGINT", end);
  }
}

async function sampleHere(
  { compiled }: PublishableSpec,
  bound: BoundRequest,
  args: readonly string[],
  options: Options,
  schedule: Schedule,
) {
  const egress = openEgress(compiled, options);
  try {
    const samples = await sampleSources(compiled, bound, args, egress, {
      ...schedule,
      onSample: (taken, combined) => {
        const text = combined.kind === "value" ? describeWebOracleValue(compiled, combined.value) : "no value";
        console.error(`${taken} of ${schedule.count}: ${printable(text)}`);
      },
    });
    if (samples.samples.length < schedule.count && !schedule.signal.aborted) {
      console.error(`Ended early, because the answers take up ${MAX_SAMPLED_TEXT / 2 ** 20} MiB already.`);
    }
    if (options.keep !== undefined) keep(options.keep, samples);
    return [readingsOfSamples(bound, samples)];
  } finally {
    await egress.close();
  }
}

async function sampleAt(
  urls: readonly string[],
  { compiled: { spec, kind } }: PublishableSpec,
  args: readonly string[],
  options: Options,
  schedule: Schedule,
) {
  for (const name of ["config", "override"] as const) {
    if (options[name] !== undefined)
      throw new ConfigError(`With --providers, each provider's own settings apply. Leave out --${name}.`);
  }
  const asked = await sampleRemoteProviders(
    urls,
    { spec, arguments: [...args] },
    {
      ...schedule,
      onSample: (taken, shown) => console.error(`${taken} of ${schedule.count}: ${shown.map(printable).join("; ")}`),
    },
  );
  if (options.keep !== undefined) keep(options.keep, asked);
  const readings = parseReadings(asked.providers, kind, spec.sources.length);
  if (!readings.ok)
    throw new ConfigError(`--providers: the answers of these providers cannot be used: ${readings.error}`);
  return readings.value;
}

/** @throws ConfigError */
function urlsOf(text: string): string[] {
  const urls = text.split(",");
  // The text is not repeated, because it may contain credentials.
  const wrong = urls.findIndex((url) => !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol));
  if (wrong !== -1)
    throw new ConfigError(
      `--providers: number ${wrong + 1} is not an http or https URL. Separate URLs by commas only.`,
    );
  if (urls.length <= MAX_SAMPLED_PROVIDERS) return urls;
  throw new ConfigError(`--providers: ${urls.length} URLs are too many. Name at most ${MAX_SAMPLED_PROVIDERS}.`);
}

function keep(file: string, samples: SampledAnswers | SpecAdviceRequest): void {
  try {
    writeFileSync(file, `${JSON.stringify(samples)}\n`);
  } catch (error) {
    throw new ConfigError(
      `--keep: ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}. ` +
        "Name a file in a folder that you can write to.",
    );
  }
  console.error(`Saved in ${file}. To get the same advice without a network: web-oracle advise --replay ${file}`);
}

function numberOf(text: string | undefined, name: string, min: number, max: number, byDefault: number): number {
  if (text === undefined) return byDefault;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new ConfigError(`--${name}: ${text} is not a whole number from ${min} to ${max}.`);
}
