import { existsSync } from "node:fs";
import { keyToAscii, parseKey } from "@dataset-oracle/protocol/dataset-key";
import { matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import { createContext, secondsOf, wait } from "@dataset-oracle/service/process/context";
import { Egress, type EgressResult } from "@dataset-oracle/service/untrusted/egress";
import { Secrets } from "@dataset-oracle/service/untrusted/secrets";
import { Value } from "@sinclair/typebox/value";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Hex } from "viem";
import type { TracedCaller } from "../callers/caller.js";
import { loadProviderConfig, ProviderConfig } from "../config.js";
import { readValue, type ServedKey } from "../keys/served-keys.js";
import { loadSources, SHIPPED_SOURCES } from "../source/load-sources.js";
import { SourceReader } from "../source/source-reader.js";
import type { SpotSource } from "../source/spot-source.js";
import { sourcesOfPair } from "../value/spot-price.js";
import { checkWebOracleSettings, isHostAllowed } from "../web-oracle/check-settings.js";
import { EXTRACT_HERE } from "../web-oracle/extract-values.js";
import { toWebOracleKey, type WebOracleKey, WebOracleKeyFinder } from "../web-oracle/web-oracle-key-finder.js";
import { bindSpec, loadSpec } from "./spec-file.js";
import { MAX_REPEAT, TRY_USAGE } from "./usage.js";
import { printable, type ReadValue, summarizeReadings, valueToJson, valueToText } from "./value-text.js";

const OPTIONS = { config: { type: "string" }, repeat: { type: "string" }, json: { type: "boolean" } } as const;

/** The time from one reading to the next. Answers are shared within a second. */
const INTERVAL_MS = 1_000;

/** The caller of everything that a command does. */
const COMMAND: TracedCaller = { id: "command", mayUseReserve: true, trace: null };

/** Its log is for whoever runs the command. Nothing ends it but the end of the command. */
const commandContext = () =>
  createContext(pino(pino.destination({ fd: 2, sync: true })), new AbortController().signal, new Registry());

/** Runs `provider try`: asks the sources of a key or of a spec now, and shows each answer. */
export async function tryValue(args: readonly string[]): Promise<void> {
  const { values: options, positionals } = parseCommandLine(args, TRY_USAGE, OPTIONS);
  const [target, ...variables] = positionals;
  if (target === undefined) throw new ConfigError(`Name a key or the file of a spec.\n\n${TRY_USAGE}`);
  const repeat = readRepeat(options.repeat);
  const { config: file } = options;
  const config = file === undefined ? Value.Create(ProviderConfig) : loadProviderConfig(file);
  const { redirectedOrigins } = config;
  const sources = loadSources([SHIPPED_SOURCES, ...config.sources], config.excludedSources, redirectedOrigins);
  const key = await findKey(target, variables, config, sources, file);

  const egress = new Egress(Secrets.load(config.secrets, process.env), { redirectedOrigins });
  const answers = new Map<string, EgressResult>();
  const recording: Pick<Egress, "fetchText"> = {
    fetchText: async (request, limits) => {
      const answer = await egress.fetchText(request, limits);
      answers.set(request.url + (request.body ?? ""), answer);
      return answer;
    },
  };
  const context = commandContext();
  const settings = { timeoutMs: config.sourceTimeoutMs, hasReserve: false };
  const reader = new SourceReader(recording, recording, context, settings);
  const read = async (): Promise<ReadValue> => {
    const at = secondsOf(context.clock);
    const value = await readValue(key, { reader, caller: COMMAND, policy: config, at }, EXTRACT_HERE);
    return { key, value, at };
  };
  try {
    const readings = await readOften(repeat, read);
    const answerOf = (index: number) => describeAnswer(key, index, answers);
    if (options.json === true) {
      const values = readings.map(valueToJson);
      console.log(JSON.stringify(repeat === 1 ? values[0] : values, null, 2));
    } else {
      console.log(valueToText(readings.at(-1) as ReadValue, answerOf));
      if (repeat > 1) console.log(`\n${summarizeReadings(key, readings)}`);
    }
    process.exitCode = readings.some(({ value }) => value.kind === "value") ? 0 : 1;
  } finally {
    await egress.close();
  }
}

/** Reads a value again and again, until it was read so often or Ctrl-C ends it, but at least once. */
async function readOften(times: number, read: () => Promise<ReadValue>): Promise<ReadValue[]> {
  const ending = new AbortController();
  const end = () => ending.abort();
  if (times > 1) process.once("SIGINT", end);
  const readings: ReadValue[] = [];
  try {
    do {
      if (readings.length > 0) await wait(INTERVAL_MS, ending.signal);
      if (ending.signal.aborted) break;
      readings.push(await read());
      if (times > 1) console.error(`${readings.length} of ${times} readings`);
    } while (readings.length < times);
    return readings;
  } finally {
    process.removeListener("SIGINT", end);
  }
}

/** @throws ConfigError */
function readRepeat(text: string | undefined): number {
  if (text === undefined) return 1;
  const times = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (times >= 2 && times <= MAX_REPEAT) return times;
  throw new ConfigError(`--repeat: ${text} is not a whole number from 2 to ${MAX_REPEAT}.`);
}

/** Shows what a source of a spec answered, as it came. */
function describeAnswer(key: ServedKey, index: number, answers: ReadonlyMap<string, EgressResult>): string[] {
  const request = key.kind === "web_oracle" ? key.requests[index] : undefined;
  const answer = request && answers.get(request.url + (request.body ?? ""));
  if (answer?.ok !== true) return ["answer: no answer"];
  const { status, contentType, text } = answer.value;
  return [`answer: ${printable(`HTTP ${status} ${contentType}`)}`, ...printable(text).split("\n")];
}

async function findKey(
  target: string,
  variables: readonly string[],
  config: ProviderConfig,
  sources: readonly SpotSource[],
  configFile: string | undefined,
): Promise<ServedKey> {
  const key = parseKey(target);
  const isSpotPrice = key.ok && matchesKeyForm("SPOT_PRICE", key.value);
  const isWeb = key.ok && matchesKeyForm("WEB_ORACLE", key.value);
  if (!isSpotPrice && !isWeb) {
    if (/\.json$/.test(target) || existsSync(target)) return keyOfSpec(target, variables, config, sources, configFile);
    throw new ConfigError(
      `${target} is neither the key of a spot price, such as SPOTPX/ETH-USD, nor one of the Web Oracle, nor the file of a ` +
        `request spec.\n\n${TRY_USAGE}`,
    );
  }
  if (variables.length > 0) throw new ConfigError(`A key takes no arguments: it has them in it.\n\n${TRY_USAGE}`);
  if (isWeb) return findPublishedKey(key.value, config, sources);
  const name = keyToAscii(key.value) ?? key.value;
  const pair = name.slice("SPOTPX/".length);
  const found = sourcesOfPair(pair, sources, config.minSources);
  if (found.length > 0) return { kind: "spot_price", key: key.value, name, sources: found };
  throw new ConfigError(
    `No source can give a price for ${pair}. Add a source file that lists the pair, and name it in the setting ` +
      "sources: see provider/README.md.",
  );
}

/** Returns the key of a spec in a file, as it will be once it is published. Nobody limits the rate of its requests. */
function keyOfSpec(
  path: string,
  args: readonly string[],
  config: ProviderConfig,
  sources: readonly SpotSource[],
  configFile: string | undefined,
): WebOracleKey {
  const spec = loadSpec(path);
  const { compiled, hash: specHash } = spec;
  const [request, key] = bindSpec(spec, args);
  const hosts = configFile === undefined ? "any" : (config.webOracle?.hosts ?? []);
  const sourceHosts = configFile === undefined ? [] : sources.map(({ origin }) => new URL(origin).host);
  const forbidden = compiled.hosts.find((host) => !isHostAllowed(host, { hosts, sourceHosts }));
  if (forbidden !== undefined)
    throw new ConfigError(`${forbidden} is not in webOracle/hosts of ${configFile}. Add it.`);
  return toWebOracleKey(key, { specHash, args }, compiled, request);
}

/** Stores nothing, because the configured folder belongs to a running provider. */
const NO_SPEC_STORE = { read: async () => null, write: async () => {} };

/**
 * Finds a key as a provider with this configuration serves it, on the first of its networks that has the spec.
 *
 * @throws ConfigError when the key is served on none of its networks.
 */
async function findPublishedKey(key: Hex, config: ProviderConfig, sources: readonly SpotSource[]) {
  const deployments = config.webOracle === undefined ? [] : config.deployments.map(loadDeployment);
  const settings = checkWebOracleSettings(config.webOracle, deployments, sources, process.env);
  if (settings === null) {
    throw new ConfigError(
      "The spec of a Web Oracle key is read from the chain. Name a provider's configuration with the setting webOracle: " +
        "--config FILE. To try a spec that you have in a file: provider try SPEC [ARGUMENT...]",
    );
  }
  const ofCommand = { ...settings, redirectedOrigins: config.redirectedOrigins, hasReserve: false };
  const finder = new WebOracleKeyFinder(NO_SPEC_STORE, { charge: () => {} }, commandContext(), ofCommand);
  const problems: ProblemError[] = [];
  for (const { chainId, datasets } of deployments) {
    for (const { kind } of datasets.filter(({ keyForm }) => keyForm === "WEB_ORACLE")) {
      try {
        return await finder.find({ chainId, kind }, key, COMMAND);
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        problems.push(error);
      }
    }
  }
  // A fault of the key itself is more useful to know than that it belongs to another dataset or network.
  const problem = problems.find(({ code }) => code !== "unknown_key" && code !== "other_kind") ?? problems[0];
  throw new ConfigError(
    problem === undefined
      ? "No deployment has a Web Oracle dataset. Add a deployment with one to the setting deployments."
      : `${problem.title} ${problem.detail}`,
  );
}
