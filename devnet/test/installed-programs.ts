import { spawnSync } from "node:child_process";

/**
 * Finds out whether a program is there that some tests need; they are skipped without it.
 *
 * @throws In CI, if it is one that CI installs.
 */
function find(program: string, howToGetIt: string, isInCi: boolean): { readonly isThere: boolean } {
  const isThere = spawnSync(program, ["--version"]).error === undefined;
  const message = `${program} is missing, and tests need it: ${howToGetIt}`;
  if (!isThere && isInCi && process.env.CI) throw new Error(message);
  if (!isThere) console.warn(`Tests are skipped. ${message}`);
  return { isThere };
}

/** promtool, which tests alert rules. The package has Prometheus, too. */
export const PROMETHEUS = find(
  "promtool",
  'on Debian and Ubuntu, "apt-get download prometheus" and "dpkg -x" unpack it without starting a service.',
  true,
);
/** Checks units. The other tests of the units run everywhere. */
export const SYSTEMD = find("systemd-analyze", "it is a part of systemd.", false);
