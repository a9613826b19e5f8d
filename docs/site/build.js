// Renders the documents: `npm run docs`.

import { rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import Eleventy from "@11ty/eleventy";
import { ROOT } from "@dataset-oracle/tools/foundry";

const USAGE = `Usage: npm run docs [-- --output FOLDER]

Renders the documents into a static site, in a few seconds. An operator serves it under /guide/; any static host will do.

  --output FOLDER   where to; what is there is replaced (default: docs/dist)
  --help            this text

Examples
  npm run docs
  npm run docs -- --output /tmp/site`;

function readArguments() {
  try {
    return parseArgs({
      options: { output: { type: "string", default: join(ROOT, "docs/dist") }, help: { type: "boolean" } },
    }).values;
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const { output, help } = readArguments();
if (help) {
  console.log(USAGE);
} else {
  const folder = resolve(output);
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
}
