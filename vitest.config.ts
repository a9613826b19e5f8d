import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The rooms whose tests start a browser or a whole devnet. Started last, one of them would run alone at the end. */
const SLOW = /\/(devnet|docs\/site|operator\/page)\/test\//;

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => SLOW.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

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
    sequence: { sequencer: SlowFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
