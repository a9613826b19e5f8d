import { defineConfig } from "vitest/config";
import { UNITS } from "../../vitest.config.js";

// The project `units` of the repository's configuration. StrykerJS takes a file, not a project, and has time limits of its
// own for what a change makes endless.
export default defineConfig({ test: { ...UNITS, testTimeout: 120_000 } });
