import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*.test.ts"],
    maxWorkers: 2,
    globalSetup: "../tools/vitest-temporary-folder.js",
    setupFiles: "../tools/vitest-setup.ts",
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
