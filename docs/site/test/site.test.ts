import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { beforeAll, describe } from "vitest";
import { hasBrowser } from "../../../operator/page/test/support/skip-without-browser.js";
import { browserTests } from "./site/browser-tests.js";
import { type BuiltSite, builtSiteTests, readBuiltSite } from "./site/built-files-tests.js";

// Both parts need a build. They share it, because two builds at the same time would write to the same temporary files.

const DIST = join(ROOT, "docs/dist");
/** In CI, what is built is of these files; elsewhere it may be old. */
const isBuilt = Boolean(process.env.CI) && existsSync(DIST);
const folder = isBuilt ? DIST : join(mkdtempSync(join(tmpdir(), "site-")), "dist");
let site: BuiltSite;

beforeAll(() => {
  const vitepress = join(ROOT, "docs/site/node_modules/vitepress/bin/vitepress.js");
  const args = [vitepress, "build", "docs/site", "--outDir", folder];
  if (!isBuilt) execFileSync("node", args, { cwd: ROOT, stdio: "pipe" });
  site = readBuiltSite(folder);
}, 300_000);

describe("the built site", () => builtSiteTests(() => site));

describe.runIf(hasBrowser())("in a browser", () => browserTests(folder));
