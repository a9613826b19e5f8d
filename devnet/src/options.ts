import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { RedirectedOrigins } from "@dataset-oracle/service/untrusted/egress";
import { parseHttpsUrl } from "@dataset-oracle/service/untrusted/https-url";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { PROVIDERS } from "./accounts.js";
import type { NeededPort } from "./needed-ports.js";

/** The devnet's options. */
export interface DevnetOptions {
  readonly chainPort: number;
  /** The port of the first operator. The others use the ports after it. */
  readonly operatorPort: number;
  /** The port of the first provider. The others use the ports after it. */
  readonly providerPort: number;
  readonly marketPort: number;
  /** True if the providers read the real exchanges instead of the simulated market. */
  readonly isLive: boolean;
  /** The maximum number of seconds between two updates of a spot price. */
  readonly heartbeatSeconds: number;
  /** True if the spot prices are kept fresh without requests. */
  readonly hasFeeds: boolean;
  /** Addresses on this machine that providers ask instead of origins, by origin. */
  readonly redirects: RedirectedOrigins;
  /** How many providers have an operator beside them; null for one operator that belongs to no provider. */
  readonly operators: number | null;
}

const DEFAULT_HEARTBEAT_SECONDS = 30;

/** How operators take turns on a chain with a block each second: a stage is a block interval and 1.5 s. */
export const TURNS = { beatSeconds: 5, stageMs: 2_500 } as const;
/** Operators refuse a heartbeat below twice a beat, a stage and 2 s. */
const LEAST_SHARED_HEARTBEAT_SECONDS = 2 * (TURNS.beatSeconds + TURNS.stageMs / 1_000 + 2);

const USAGE = `Usage: npm start -- [options]

Starts a chain, the datasets, four data providers and the operator on this machine. Ctrl-C stops everything; the
next start begins with a new chain.
The first start compiles the contracts, which takes a few minutes.

  --chain-port N      the chain's port (default: 8545)
  --operator-port N   the operator's port (default: 8080)
  --provider-port N   the first provider's port; the others use the ports after it (default: 8601)
  --market-port N     the simulated market's port (default: 8600)
  --operators N       start an operator beside each of the first N providers, 1 to 4, instead of one that belongs to
                      none; they take turns at keeping prices fresh, and use the operator's port and the ports after it
  --live              read the real exchanges instead of the simulated market
  --heartbeat N       update each price at least every N seconds, 10 to 3600, or from
                      ${LEAST_SHARED_HEARTBEAT_SECONDS} with --operators (default: ${DEFAULT_HEARTBEAT_SECONDS})
  --no-feeds          update values only on request
  --redirect ORIGIN=URL
                      have the providers ask an API on this machine instead of a web API, for example your own; may be
                      repeated. The origin is https and may be made up; the URL has http and a loopback IP address
  --help              show this text

Examples
  npm start
  npm start -- --no-feeds
  npm start -- --operators 4
  npm start -- --redirect https://api.mine.example=http://127.0.0.1:9000
  npm start -- --chain-port 9545 --operator-port 9080 --provider-port 9601 --market-port 9600`;

/**
 * Reads the command line. It ends the process if help is asked for, or with code 2 if an argument is wrong.
 *
 * @throws ConfigError when the heartbeat leaves several operators no time to take turns, or a redirect is not valid.
 */
export function readOptions(): DevnetOptions {
  const { values } = readArguments(USAGE, {
    "chain-port": { type: "string", default: "8545", range: [1, 65_535] },
    "operator-port": { type: "string", default: "8080", range: [1, 65_535] },
    "provider-port": { type: "string", default: "8601", range: [1, 65_535] },
    "market-port": { type: "string", default: "8600", range: [1, 65_535] },
    operators: { type: "string", range: [1, PROVIDERS.length] },
    heartbeat: { type: "string", default: String(DEFAULT_HEARTBEAT_SECONDS), range: [10, 3_600] },
    "no-feeds": { type: "boolean", default: false },
    live: { type: "boolean", default: false },
    redirect: { type: "string", multiple: true, default: [] },
  });
  const heartbeatSeconds = Number(values.heartbeat);
  const operators = values.operators === undefined ? null : Number(values.operators);
  if (operators !== null && heartbeatSeconds < LEAST_SHARED_HEARTBEAT_SECONDS) {
    throw new ConfigError(
      `--heartbeat is ${heartbeatSeconds}. Operators that take turns need ${LEAST_SHARED_HEARTBEAT_SECONDS} or more: ` +
        "raise it, or leave out --operators.",
    );
  }
  return {
    chainPort: Number(values["chain-port"]),
    operatorPort: Number(values["operator-port"]),
    providerPort: Number(values["provider-port"]),
    marketPort: Number(values["market-port"]),
    isLive: values.live,
    heartbeatSeconds,
    hasFeeds: !values["no-feeds"],
    redirects: Object.fromEntries(values.redirect.map(readRedirect)),
    operators,
  };
}

/** The address as a provider's configuration may have it. */
const LOCAL_ADDRESS = /^http:\/\/(?:127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:\/[^?#\s]*[^/?#\s])?$/;

/** @throws ConfigError unless it is an https origin, and an address on this machine. */
function readRedirect(text: string): [origin: string, address: string] {
  const [origin = "", address = ""] = text.split(/=(.*)/s);
  const url = parseHttpsUrl(origin);
  if (url.ok && url.value.origin === origin && LOCAL_ADDRESS.test(address)) return [origin, address];
  throw new ConfigError(
    "--redirect: write an https origin, =, and an http URL with a loopback IP address, neither with a slash at the end. " +
      "For an example: npm start -- --help",
  );
}

/** Returns every port that the devnet listens on. */
export function neededPorts(options: DevnetOptions): NeededPort[] {
  const { chainPort, operatorPort, providerPort, marketPort, isLive, operators } = options;
  const ofOperators = Array.from({ length: operators ?? 0 }, (_, index) => ({
    role: `operator ${index + 1}`,
    port: operatorPort + index,
    option: "--operator-port",
  }));
  return [
    { role: "the chain", port: chainPort, option: "--chain-port" },
    ...(operators === null ? [{ role: "the operator", port: operatorPort, option: "--operator-port" }] : ofOperators),
    ...PROVIDERS.map((_, index) => ({
      role: `provider ${index + 1}`,
      port: providerPort + index,
      option: "--provider-port",
    })),
    ...(isLive ? [] : [{ role: "the simulated market", port: marketPort, option: "--market-port" }]),
  ];
}
