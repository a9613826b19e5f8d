import { type Browser, chromium } from "playwright-core";
import { BROWSER } from "./has-browser.js";

/** Nothing is fetched by the browser itself: what is left is the page's. */
const ARGUMENTS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update " +
  "--disable-sync --force-color-profile=srgb";

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER ?? "", args: ARGUMENTS.split(" ") });
}
