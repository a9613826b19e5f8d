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
