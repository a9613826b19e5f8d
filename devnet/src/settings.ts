import { parseArgs } from "node:util";
import { ConfigError } from "@dataset-oracle/service/config";
import type { NeededPort } from "./ports.js";

/** Where the devnet listens, and what its providers read. */
export interface Settings {
  readonly chainPort: number;
  readonly operatorPort: number;
  /** The first provider's; the others follow. */
  readonly providerPort: number;
  readonly marketPort: number;
  /** Whether the providers read the real exchanges instead of the simulated market. */
  readonly isLive: boolean;
  /** Whether the operator keeps the spot prices fresh without requests. */
  readonly hasFeeds: boolean;
}

export const HELP = `Usage: npm start -- [options]

Starts a chain, the datasets, four data providers and the operator on this machine. Ctrl-C ends all of them.
The first start takes longest: it compiles the contracts.

  --chain-port N      the chain's port (default: 8545)
  --operator-port N   the operator's port (default: 8080)
  --provider-port N   the first provider's port; the others follow (default: 8601)
  --market-port N     the simulated market's port (default: 8600)
  --live              read the real exchanges instead of the simulated market. Nobody has run this yet.
  --no-feeds          no data moves without a request
  --help              this text

Examples
  npm start
  npm start -- --no-feeds
  npm start -- --chain-port 9545 --operator-port 9080 --provider-port 9601 --market-port 9600`;

/**
 * Reads the command line.
 *
 * @returns null when help was asked for.
 * @throws ConfigError
 */
export function parseSettings(args: readonly string[]): Settings | null {
  const { values } = parse(args);
  if (values.help) return null;
  return {
    chainPort: toPort("chain-port", values["chain-port"]),
    operatorPort: toPort("operator-port", values["operator-port"]),
    providerPort: toPort("provider-port", values["provider-port"]),
    marketPort: toPort("market-port", values["market-port"]),
    isLive: values.live,
    hasFeeds: !values["no-feeds"],
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        "chain-port": { type: "string", default: "8545" },
        "operator-port": { type: "string", default: "8080" },
        "provider-port": { type: "string", default: "8601" },
        "market-port": { type: "string", default: "8600" },
        "no-feeds": { type: "boolean", default: false },
        live: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}\n\n${HELP}`);
  }
}

function toPort(name: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new ConfigError(`--${name} ${text}: a port is a number from 1 to 65535.`);
  return port;
}

/** Every port that the devnet listens on. */
export function neededPorts(settings: Settings, providers: number): NeededPort[] {
  const { chainPort, operatorPort, providerPort, marketPort, isLive } = settings;
  return [
    { role: "the chain", port: chainPort, option: "--chain-port" },
    { role: "the operator", port: operatorPort, option: "--operator-port" },
    ...Array.from({ length: providers }, (_, index) => ({
      role: `provider ${index + 1}`,
      port: providerPort + index,
      option: "--provider-port",
    })),
    ...(isLive ? [] : [{ role: "the simulated market", port: marketPort, option: "--market-port" }]),
  ];
}
