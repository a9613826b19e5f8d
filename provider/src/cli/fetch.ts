import { keyToAscii, parseKey } from "@dataset-oracle/protocol/dataset-key";
import { matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import { Value } from "@sinclair/typebox/value";
import ora from "ora";
import type { Hex } from "viem";
import { loadProviderConfig, ProviderConfig } from "../config.js";
import { readValue } from "../read-value.js";
import type { ServedKey } from "../served-keys.js";
import { checkRedirectedOrigins } from "../source/check-redirected-origins.js";
import { loadSources, SHIPPED_SOURCES } from "../source/load-sources.js";
import { SourceReader } from "../source/source-reader.js";
import type { SpotSource } from "../source/spot-source.js";
import { sourcesOfPair } from "../sources-of-pair.js";
import type { SpotPriceKey } from "../spot-price.js";
import { EXTRACT_HERE } from "../web-oracle/extract-values.js";
import { findWebOracleKey } from "./find-web-oracle-key.js";
import { FETCH_USAGE } from "./help-text.js";
import { valueToJson, valueToText } from "./value-output.js";

/** Runs `provider fetch`: asks the sources of a key now, and shows each source's answer. */
export async function fetchValue(args: readonly string[]): Promise<void> {
  const options = { config: { type: "string" }, json: { type: "boolean" } } as const;
  const { values, positionals } = parseCommandLine(args, FETCH_USAGE, options);
  if (values.help === true) return console.log(FETCH_USAGE);
  const [text, extra] = positionals;
  if (text === undefined || extra !== undefined)
    throw new ConfigError(`Give exactly one key, such as SPOTPX/ETH-USD.\n\n${FETCH_USAGE}`);
  const config = values.config === undefined ? Value.Create(ProviderConfig) : loadProviderConfig(values.config);
  const sources = loadSources([SHIPPED_SOURCES, ...config.sources], config.excludedSources);
  const { redirectedOrigins } = config;
  checkRedirectedOrigins(
    redirectedOrigins,
    config.webOracle === undefined ? sources.map(({ origin }) => origin) : "any",
    [],
  );
  const key = await findKey(text, config, sources);

  const now = () => BigInt(Math.floor(Date.now() / 1_000));
  const egress = new Egress({ redirectedOrigins, secrets: Secrets.load(config.secrets, process.env) });
  const reader = new SourceReader({ egress, timeoutMs: config.sourceTimeoutMs, hasReserve: false, now });
  const isText = process.stdout.isTTY === true && values.json !== true;
  const spinner = startSpinner(key, isText);
  try {
    const at = now();
    const value = await readValue(key, { reader, mayUseReserve: true, policy: config, at }, EXTRACT_HERE);
    spinner.stop();
    const shown = { ...key, value, at };
    console.log(isText ? valueToText(shown) : JSON.stringify(valueToJson(shown), null, 2));
    process.exitCode = value.kind === "value" ? 0 : 1;
  } finally {
    spinner.stop();
    await egress.close();
  }
}

async function findKey(text: string, config: ProviderConfig, sources: readonly SpotSource[]): Promise<ServedKey> {
  const key = parseKey(text);
  if (!key.ok) throw new ConfigError(`${text} is not a key: ${key.error}`);
  if (matchesKeyForm("SPOT_PRICE", key.value)) return findSpotPrice(key.value, config, sources);
  if (matchesKeyForm("WEB_ORACLE", key.value)) return findWebOracleKey(key.value, config, sources);
  throw new ConfigError(
    `${keyToAscii(key.value) ?? key.value} is not a key that can be fetched. Give the key of a spot price, such as ` +
      `SPOTPX/ETH-USD, or of the Web Oracle.\n\n${FETCH_USAGE}`,
  );
}

function findSpotPrice(key: Hex, config: ProviderConfig, sources: readonly SpotSource[]): SpotPriceKey {
  const name = keyToAscii(key) ?? key;
  const pair = name.slice("SPOTPX/".length);
  const found = sourcesOfPair(pair, sources, config.minSources, config.redirectedOrigins);
  if (found.length === 0)
    throw new ConfigError(
      `No source can give a price for ${pair}. Add a source file that lists the pair, and name it in the setting ` +
        "sources: see provider/README.md.",
    );
  return { kind: "spot_price", key, name, sources: found };
}

function startSpinner(key: ServedKey, isText: boolean) {
  const count = key.kind === "spot_price" ? key.sources.length : key.requests.length;
  // In a terminal that reports 0 columns, ora would clear lines for ever.
  const isVisible = isText && (process.stderr.columns ?? 0) > 0;
  const text = count === 1 ? "asking the source" : `asking ${count} sources`;
  return ora({ text, isSilent: !isVisible }).start();
}
