import { type Browser, chromium } from "playwright-core";
import { BROWSER } from "./skip-without-browser.js";

export type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** Stops the browser's own background requests, so that all others are the page's. */
const ARGUMENTS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update " +
  "--disable-sync --force-color-profile=srgb";

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER ?? "", args: ARGUMENTS.split(" ") });
}
