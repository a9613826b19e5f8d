import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where a browser usually is; the first that is there is taken. */
const PLACES = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const FOUND = PLACES.find((place) => place !== "" && existsSync(place)) ?? null;

/** Nothing is fetched by the browser itself: what is left is the page's. */
const ARGUMENTS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update " +
  "--disable-sync --force-color-profile=srgb";

/**
 * Returns true if a browser is installed.
 *
 * @throws Error in CI, where a missing browser is a failure.
 */
export function hasBrowser(found = FOUND, isCi = Boolean(process.env.CI)): boolean {
  if (found !== null) return true;
  const reason = "Chromium is missing. Install it (apt-get install chromium), or name its path in CHROMIUM.";
  if (isCi) throw new Error(reason);
  console.warn(`The tests of the page in a browser are skipped. ${reason}`);
  return false;
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: FOUND ?? "", args: ARGUMENTS.split(" ") });
}
