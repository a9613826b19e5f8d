import { existsSync } from "node:fs";

/** Where a browser usually is. */
const PLACES = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
/** The path of the first that is there. */
export const BROWSER = PLACES.find((place) => place !== "" && existsSync(place)) ?? null;

/**
 * Returns true if a browser is installed.
 *
 * @throws Error in CI, where a missing browser is a failure.
 */
export function hasBrowser(): boolean {
  if (BROWSER !== null) return true;
  const reason = "Chromium is missing. Install it (apt-get install chromium), or name its path in CHROMIUM.";
  if (process.env.CI) throw new Error(reason);
  console.warn(`The tests of the page in a browser are skipped. ${reason}`);
  return false;
}
