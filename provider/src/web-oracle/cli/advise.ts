import { writeFileSync } from "node:fs";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { describeValue, printable, styleOf } from "../../cli/terminal.js";
import { advise } from "../advice/advise.js";
import { loadSamples, type Samples, takeSamples } from "../advice/samples.js";
import { adviceToText } from "../advice/show-advice.js";
import type { BoundRequest, CompiledRequest } from "../compile.js";
import type { CliCommand } from "./arguments.js";
import { bindSpec, loadSpec } from "./load-spec.js";
import { openEgress } from "./open-egress.js";

/** The bounds of a sampling: at most a day. */
const MAX_SAMPLES = 1_000;
const MAX_INTERVAL = 600;
const MAX_SECONDS = 86_400;

/**
 * Runs `web-oracle advise`: samples a spec's sources over some time, or reads samples that were kept, and says which rule
 * fits the value.
 *
 * @throws ConfigError
 */
export async function adviseOnSpec({ specFile, args, options }: CliCommand): Promise<void> {
  if (options.replay !== undefined) refuseSampling(specFile, options);
  const { samples, request, bound } =
    options.replay === undefined ? await sample(specFile, args, options) : loadSamples(options.replay);
  const advice = advise(request, bound, samples);
  const style = styleOf(process.stdout, process.env);
  console.log(adviceToText(request, bound, advice, samples.interval_seconds, style));
  process.exitCode = advice.answered > 0 ? 0 : 1;
}

/** @throws ConfigError when a replay is to do more than that. */
function refuseSampling(specFile: string | null, { replay: _, help: __, ...others }: CliCommand["options"]): void {
  if (specFile !== null) throw new ConfigError(`--replay has the spec in its file. Leave out ${specFile}.`);
  const [other] = Object.keys(others);
  if (other !== undefined) throw new ConfigError(`--replay samples nothing. Leave out --${other}.`);
}

async function sample(
  specFile: string | null,
  args: readonly string[],
  options: CliCommand["options"],
): Promise<{ samples: Samples; request: CompiledRequest; bound: BoundRequest }> {
  if (specFile === null) throw new ConfigError("Name the file of the spec, or samples that were kept: --replay FILE.");
  const count = numberOf(options.samples, "samples", 2, MAX_SAMPLES, 30);
  const intervalSeconds = numberOf(options.interval, "interval", 1, MAX_INTERVAL, 2);
  if (count * intervalSeconds > MAX_SECONDS) {
    throw new ConfigError(
      `--samples ${count} times --interval ${intervalSeconds} is more than a day. Lower one of them.`,
    );
  }
  const spec = loadSpec(specFile);
  const bound = bindSpec(spec, args);
  const egress = openEgress(spec.request, options);
  const ending = new AbortController();
  const end = () => ending.abort();
  process.once("SIGINT", end);
  console.error(`${count} samples, ${intervalSeconds} s apart. Press Ctrl-C to end early.`);
  try {
    const samples = await takeSamples(spec.request, bound, args, egress, {
      count,
      intervalSeconds,
      signal: ending.signal,
      onSample: (taken, combined) => {
        const text = combined.kind === "value" ? describeValue(spec.request, combined.value) : "no value";
        console.error(`${taken} of ${count}: ${printable(text)}`);
      },
    });
    if (options.keep !== undefined) keep(options.keep, samples);
    return { samples, request: spec.request, bound };
  } finally {
    process.removeListener("SIGINT", end);
    await egress.close();
  }
}

function keep(file: string, samples: Samples): void {
  try {
    writeFileSync(file, `${JSON.stringify(samples)}\n`);
  } catch (error) {
    throw new ConfigError(`--keep: ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}.`);
  }
  console.error(`Kept in ${file}. The same advice from it, without a network: web-oracle advise --replay ${file}`);
}

function numberOf(text: string | undefined, name: string, min: number, max: number, byDefault: number): number {
  if (text === undefined) return byDefault;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new ConfigError(`--${name}: ${text} is not a whole number from ${min} to ${max}.`);
}
