import { keyToAscii, matchesKeyForm, parseKey } from "@dataset-oracle/protocol/key";
import { ConfigError } from "@dataset-oracle/service/config";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { Value } from "@sinclair/typebox/value";
import ora from "ora";
import type { Hex } from "viem";
import { loadProviderConfig, ProviderConfig } from "../config.js";
import { pairSources } from "../served.js";
import { loadSources, SHIPPED_SOURCES } from "../source/load-sources.js";
import { SourceReader } from "../source/reader.js";
import type { SpotSource } from "../source/spot-source.js";
import { checkOverrides } from "../source-overrides.js";
import { askSources, decidePrice } from "../spot-price.js";
import { readWebValue } from "../web-oracle/web-oracle.js";
import { readArguments } from "./arguments.js";
import { findWebKey } from "./find-web-key.js";
import { toJson, toTable } from "./price-table.js";
import { styleOf } from "./terminal.js";
import { FETCH_USAGE } from "./usage.js";
import { webValueToJson, webValueToText } from "./web-value.js";

/** A key, ready to be asked for. */
interface Question {
  readonly sources: number;
  /** @param at In whole seconds since 1970. */
  ask(reader: SourceReader, at: bigint): Promise<Shown>;
}

interface Shown {
  readonly hasValue: boolean;
  readonly json: () => string;
  readonly text: () => string;
}

/** `provider fetch`: asks the sources for a key now, and shows what each says. */
export async function fetchValue(args: readonly string[]): Promise<void> {
  const given = readArguments(args, { usage: FETCH_USAGE, takesConfig: true });
  if (given === null) return console.log(FETCH_USAGE);
  const config = given.configFile === null ? Value.Create(ProviderConfig) : loadProviderConfig(given.configFile);
  const key = parseKey(given.subject);
  if (!key.ok) throw new ConfigError(`${given.subject} is no key: ${key.error}`);
  const sources = loadSources([SHIPPED_SOURCES, ...config.sources], config.excludedSources);
  const { sourceOverrides: overrides } = config;
  checkOverrides(overrides, config.webOracle === undefined ? sources.map(({ origin }) => origin) : "any", []);
  const question = await toQuestion(key.value, config, sources);

  const now = () => BigInt(Math.floor(Date.now() / 1_000));
  const egress = new Egress({ overrides, secrets: Secrets.load(config.secrets, process.env) });
  const reader = new SourceReader({ egress, timeoutMs: config.sourceTimeoutMs, hasReserve: false, now });
  const isText = process.stdout.isTTY === true && !given.isJson;
  // In a terminal that says it has no columns, ora would clear lines for ever.
  const hasSpinner = isText && (process.stderr.columns ?? 0) > 0;
  const text = question.sources === 1 ? "asking the source" : `asking ${question.sources} sources`;
  const spinner = ora({ text, isSilent: !hasSpinner }).start();
  try {
    const shown = await question.ask(reader, now());
    spinner.stop();
    console.log(isText ? shown.text() : shown.json());
    process.exitCode = shown.hasValue ? 0 : 1;
  } finally {
    spinner.stop();
    await egress.close();
  }
}

async function toQuestion(key: Hex, config: ProviderConfig, sources: readonly SpotSource[]): Promise<Question> {
  if (matchesKeyForm("SPOT_PRICE", key)) return askPrice(keyToAscii(key) ?? "", config, sources);
  if (matchesKeyForm("WEB_ORACLE", key)) return askWeb(key, config, sources);
  throw new ConfigError(
    `${keyToAscii(key) ?? key} is no spot price's key, such as SPOTPX/ETH-USD, and none of the Web Oracle's.\n\n${FETCH_USAGE}`,
  );
}

function askPrice(key: string, policy: ProviderConfig, sources: readonly SpotSource[]): Question {
  const pair = key.slice("SPOTPX/".length);
  const asked = pairSources(pair, sources, policy.minSources, policy.sourceOverrides);
  if (asked.length === 0) throw new ConfigError(`No source knows ${pair}. Add one: see provider/README.md.`);
  return {
    sources: asked.length,
    async ask(reader, at) {
      const price = decidePrice(await askSources(asked, { reader, isReserved: true, policy, at }), { policy, at });
      return {
        hasValue: price.kind === "price",
        json: () => toJson(key, price, at),
        text: () => toTable(key, price, at, !process.env.NO_COLOR),
      };
    },
  };
}

async function askWeb(key: Hex, config: ProviderConfig, sources: readonly SpotSource[]): Promise<Question> {
  const found = await findWebKey(key, config, sources);
  return {
    sources: found.requests.length,
    async ask(reader, at) {
      const reading = await readWebValue(found, reader, true);
      const value = { ...found, reading, at };
      return {
        hasValue: reading.combined.kind === "value",
        json: () => webValueToJson(value),
        text: () => webValueToText(value, styleOf(process.stdout, process.env)),
      };
    },
  };
}
