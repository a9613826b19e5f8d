import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

/** The folder of the source files that providers are shipped with, one for each exchange. */
const SOURCES = join(ROOT, "provider/sources");

/** The origin of each exchange's public API, by the name of its source file. */
export const EXCHANGE_ORIGINS: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(SOURCES).map((file) => {
    const { name, url } = JSON.parse(readFileSync(join(SOURCES, file), "utf8")) as { name: string; url: string };
    return [name, new URL(url.replace(/[{}]/g, "")).origin];
  }),
);

/** The exchanges that providers read, and whose formats the simulated market answers in. */
export const EXCHANGES: readonly string[] = Object.keys(EXCHANGE_ORIGINS);

/** Returns the redirected origins that make a provider read a market instead of the exchanges. */
export function marketRedirects(url: string): Record<string, string> {
  return Object.fromEntries(Object.entries(EXCHANGE_ORIGINS).map(([name, origin]) => [origin, `${url}/${name}`]));
}
