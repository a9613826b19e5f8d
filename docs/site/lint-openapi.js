// Lints the OpenAPI documents of both services, which are those of running ones, with Redocly's recommended rules.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApiDocuments } from "./app-for-docs.js";

const REDOCLY = join(import.meta.dirname, "node_modules/@redocly/cli/bin/cli.js");
const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

const cwd = mkdtempSync(join(tmpdir(), "openapi-"));
for (const [name, document] of Object.entries(await openApiDocuments())) {
  const file = `${name}.json`;
  writeFileSync(join(cwd, file), JSON.stringify(document));
  const args = [REDOCLY, "lint", file, "--extends=recommended", "--format=json"];
  const { stdout } = spawnSync(process.execPath, args, { cwd, env, encoding: "utf8" });
  // A warning counts, too.
  for (const { ruleId, message, location } of JSON.parse(stdout).problems) {
    console.error(`${file}${location[0]?.pointer ?? ""}: ${message} (${ruleId})`);
    process.exitCode = 1;
  }
}
rmSync(cwd, { recursive: true });
