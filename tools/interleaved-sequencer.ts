import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The folders whose tests keep the cores busy with a browser, a whole devnet or compilers, the longest first. */
const BUSY = ["operator/page/test/", "docs/site/test/", "devnet/test/", "tools/test/"];

/** Places busy files evenly among those that mostly wait for blocks and deadlines, and the units last. */
export class InterleavedSequencer extends BaseSequencer {
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
