// Renders the documents: `npm run docs`.

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import Eleventy from "@11ty/eleventy";
import { readCommand } from "@dataset-oracle/tools/command";
import { ROOT } from "@dataset-oracle/tools/foundry";

const USAGE = `Usage: npm run docs [-- --output FOLDER]

Renders the documents into a static site, in a few seconds. An operator serves it under /guide/; any static host will do.

  --output FOLDER   where to; what is there is replaced (default: docs/dist)
  --help            this text

Examples
  npm run docs
  npm run docs -- --output /tmp/site`;

const { values } = readCommand(USAGE, { output: { type: "string", default: join(ROOT, "docs/dist") } });
const folder = resolve(values.output);
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, "copy.js"))) {
  console.error(`${folder} has something else than a rendered site in it. Name an empty or a new folder.`);
  process.exit(2);
}
process.chdir(ROOT);
rmSync(folder, { recursive: true, force: true });
// Eleventy takes every path from where it runs.
const site = new Eleventy("docs", relative(ROOT, folder), {
  configPath: "docs/site/eleventy.config.js",
  quietMode: true,
});
site.disableLogger();
await site.write();
console.log(`${folder}: the documents are rendered.`);
