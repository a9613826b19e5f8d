import { BROWSER } from "./find-browser.js";

/**
 * Returns true if a browser is installed.
 *
 * @throws Error in CI, where a missing browser is a failure.
 */
export function hasBrowser(found = BROWSER, isCi = Boolean(process.env.CI)): boolean {
  if (found !== null) return true;
  const reason = "Chromium is missing. Install it (apt-get install chromium), or name its path in CHROMIUM.";
  if (isCi) throw new Error(reason);
  console.warn(`The tests of the page in a browser are skipped. ${reason}`);
  return false;
}
