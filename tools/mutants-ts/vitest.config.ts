import { defineConfig } from "vitest/config";
import { UNITS } from "../../vitest.config.js";

// The project `units` of the repository's configuration. StrykerJS takes a file, not a project.
export default defineConfig({ test: UNITS });
