import { matchesKeyForm, parseKey } from "@dataset-oracle/protocol/key";
import { ConfigError } from "@dataset-oracle/service/config";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { Value } from "@sinclair/typebox/value";
import ora from "ora";
import { loadProviderConfig, ProviderConfig } from "../config.js";
import { pairSources } from "../served.js";
import { loadSources, SHIPPED_SOURCES } from "../source/load.js";
import { SourceReader } from "../source/reader.js";
import { checkOverrides } from "../source-overrides.js";
import { askSources, decidePrice } from "../spot-price.js";
import { FETCH_USAGE } from "../usage.js";
import { readArguments } from "./arguments.js";
import { toJson, toTable } from "./price-table.js";

const SPOT_PRICE = "SPOTPX/";

/** `provider fetch`: asks the sources for a key now, and shows what each says. */
export async function fetchPrice(args: readonly string[]): Promise<void> {
  const given = readArguments(args, { usage: FETCH_USAGE, takesConfig: true });
  if (given === null) return console.log(FETCH_USAGE);
  const config = given.configFile === null ? Value.Create(ProviderConfig) : loadProviderConfig(given.configFile);
  const pair = pairOf(given.subject);
  const sources = loadSources([SHIPPED_SOURCES, ...config.sources], config.excludedSources);
  const { sourceOverrides: overrides, minSources } = config;
  checkOverrides(overrides, config.webOracle === undefined ? sources.map(({ origin }) => origin) : "any", []);
  const asked = pairSources(pair, sources, minSources, overrides);
  if (asked.length === 0) throw new ConfigError(`No source knows ${pair}. Add one: see provider/README.md.`);

  const now = () => BigInt(Math.floor(Date.now() / 1_000));
  const egress = new Egress({ overrides, secrets: Secrets.load(config.secrets, process.env) });
  const reader = new SourceReader({ egress, timeoutMs: config.sourceTimeoutMs, hasReserve: false, now });
  const isTable = process.stdout.isTTY === true && !given.isJson;
  // In a terminal that says it has no columns, ora would clear lines for ever.
  const hasSpinner = isTable && (process.stderr.columns ?? 0) > 0;
  const spinner = ora({ text: `asking ${asked.length} sources`, isSilent: !hasSpinner }).start();
  try {
    const at = now();
    const answers = await askSources(asked, { reader, isReserved: true, policy: config, at });
    const price = decidePrice(answers, { policy: config, at });
    spinner.stop();
    const key = SPOT_PRICE + pair;
    console.log(isTable ? toTable(key, price, at, !process.env.NO_COLOR) : toJson(key, price, at));
    process.exitCode = price.kind === "price" ? 0 : 1;
  } finally {
    spinner.stop();
    await egress.close();
  }
}

function pairOf(text: string): string {
  const key = parseKey(text);
  if (!key.ok) throw new ConfigError(`${text} is no key: ${key.problem}`);
  if (!matchesKeyForm("SPOT_PRICE", key.value)) {
    throw new ConfigError(`${text} is no spot price's key, such as SPOTPX/ETH-USD.\n\n${FETCH_USAGE}`);
  }
  return Buffer.from(key.value.slice(2), "hex").toString("latin1").slice(SPOT_PRICE.length);
}
