import { configDefaults, defineConfig } from "vitest/config";
import { InterleavedSequencer } from "./tools/interleaved-sequencer.js";

/** The unit tests, which lie beside the source. */
export const UNITS = {
  include: ["*/src/**/*.test.ts", "operator/page/src/**/*.test.ts"],
  exclude: [...configDefaults.exclude, "operator/src/plugins/*/test/**"],
};

// Projects do not take over the mode of the command line by themselves.
export default defineConfig(({ mode }) => ({
  test: {
    // CI has two cores, and most files wait longer than they compute.
    maxWorkers: 3,
    // Files leave nothing behind, so that they can share processes, whose start takes longer than many of them.
    isolate: false,
    globalSetup: "tools/vitest-temporary-folder.js",
    setupFiles: "tools/vitest-setup.ts",
    // What is compiled is loaded by Node itself, which is faster.
    server: { deps: { external: [/\/(?:protocol|service|provider|operator|devnet)\/dist\//] } },
    sequence: { sequencer: InterleavedSequencer },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // By default a state must be reached within a second, which a busy machine may need for one block. The limit only
    // ends what waits in vain: a machine with much else to do may take ten times as long as an idle one.
    expect: { poll: { timeout: 120_000 } },
    projects: [
      {
        extends: true,
        mode,
        test: {
          name: "tests",
          include: [
            "*/test/**/*.test.ts",
            "operator/src/plugins/*/test/**/*.test.ts",
            "docs/site/test/**/*.test.ts",
            "operator/page/test/**/*.test.ts",
            "operator/simulation/test/**/*.test.ts",
          ],
        },
      },
      {
        extends: true,
        mode,
        test: { ...UNITS, name: "units" },
      },
    ],
  },
}));
