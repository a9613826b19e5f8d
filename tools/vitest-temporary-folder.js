import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Gives the tests and their processes a folder for temporary files, so that none has to remove its own. Vitest calls it
 * before the first test, and the returned function after the last; the folders of several projects are nested.
 */
export function setup() {
  const outside = process.env.TMPDIR;
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  process.env.TMPDIR = folder;
  return () => {
    if (outside === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = outside;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
