import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { ConfigError, unreadable } from "@dataset-oracle/service/config/config-error";
import { loadConfig } from "@dataset-oracle/service/config/load-config";
import type { RedirectedOrigins } from "@dataset-oracle/service/untrusted/egress";
import { compileSpotSource, type SpotSource, SpotSourceSpec } from "./spot-source.js";

/** The folder of the source files that are shipped with the provider. */
export const SHIPPED_SOURCES = fileURLToPath(new URL("../../sources", import.meta.url));

/**
 * Loads source files.
 *
 * @param paths Files, or folders whose *.json files are loaded.
 * @param excluded The names of sources to leave out.
 * @throws ConfigError that names the file to fix.
 */
export function loadSources(
  paths: readonly string[],
  excluded: readonly string[] = [],
  redirectedOrigins: RedirectedOrigins = {},
): SpotSource[] {
  const sources = new Map<string, SpotSource>();
  for (const file of paths.flatMap(filesAt)) {
    const source = compileSpotSource(loadConfig(file, SpotSourceSpec), redirectedOrigins);
    if (!source.ok) throw new ConfigError(`${file}: ${source.error}`);
    const { name } = source.value;
    if (sources.has(name)) throw new ConfigError(`${file}: another source has the name "${name}" too. Rename one.`);
    const neighbour = [...sources.values()].find(({ origin }) => origin === source.value.origin);
    if (neighbour !== undefined && !isDeepStrictEqual(neighbour.rateLimit, source.value.rateLimit)) {
      throw new ConfigError(
        `${file}: rateLimit differs from that of "${neighbour.name}", which has the same origin. Make them equal.`,
      );
    }
    sources.set(name, source.value);
  }
  const unknown = excluded.find((name) => !sources.has(name));
  if (unknown !== undefined) {
    throw new ConfigError(
      `excludedSources: there is no source "${unknown}". The sources are: ${[...sources.keys()].join(", ")}.`,
    );
  }
  return [...sources.values()].filter(({ name }) => !excluded.includes(name));
}

function filesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith(".json"));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw unreadable(
      `${path} cannot be read: ${(error as NodeJS.ErrnoException).code}. Check the path and its permissions.`,
      error,
    );
  }
}
