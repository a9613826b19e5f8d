import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The folders whose tests keep the cores busy with a browser, a whole devnet or compilers, the longest first. */
const BUSY = ["operator/page/test/", "docs/site/test/", "devnet/test/", "examples/test/", "tools/test/"];

/** Places busy files evenly among those that mostly wait for blocks and deadlines, and the units last. */
class InterleavedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const units = sorted.filter(({ project }) => project.name === "units");
    const rest = sorted.filter((file) => !units.includes(file));
    const busy = BUSY.flatMap((folder) => rest.filter(({ moduleId }) => moduleId.includes(folder)));
    const waiting = rest.filter((file) => !busy.includes(file));
    const woven = [busy, waiting].flatMap((group) =>
      group.map((file, index) => ({ file, place: (index + 0.5) / group.length })),
    );
    return [...woven.sort((a, b) => a.place - b.place).map(({ file }) => file), ...units];
  }
}

// Projects do not take over the mode of the command line by themselves.
export default defineConfig(({ mode }) => ({
  test: {
    // CI has two cores, and most files wait longer than they compute.
    maxWorkers: 3,
    sequence: { sequencer: InterleavedSequencer },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // By default a state must be reached within a second, which a busy machine may need for one block.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        mode,
        test: {
          name: "tests",
          include: ["*/test/**/*.test.ts", "docs/site/test/**/*.test.ts", "operator/page/test/**/*.test.ts"],
          // They run real chains, processes and browsers in real time. A test that needed its second try is named in the report.
          retry: process.env.CI ? 1 : 0,
        },
      },
      {
        extends: true,
        mode,
        // They leave nothing behind, so that they can share processes, whose start takes longer than most of them.
        test: {
          name: "units",
          include: ["*/src/**/*.test.ts", "operator/page/src/**/*.test.ts"],
          isolate: false,
        },
      },
    ],
  },
}));
