import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "*/src/**/*.test.ts",
      "*/test/**/*.test.ts",
      "docs/site/test/**/*.test.ts",
      "operator/page/{src,test}/**/*.test.ts",
    ],
    // Tests that start a chain and several processes share two cores with it.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
