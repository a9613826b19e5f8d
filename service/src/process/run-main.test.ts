import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test.each([
  [
    "goes on while its main function waits",
    "await runMain(() => pause().then(() => console.log('waited')));",
    "waited\n",
  ],
  [
    "ends when its main function has ended, whatever else waits",
    "await runMain(async () => void pause().then(console.log));",
    "",
  ],
])("a program %s", (_, script, printed) => {
  const imports = `
    import { runMain } from "@dataset-oracle/service/process/run-main";
    import { wait } from "@dataset-oracle/service/process/context";
    const pause = () => wait(1_000, new AbortController().signal);`;
  const args = ["--input-type=module", "--eval", imports + script];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: import.meta.dirname, timeout: 60_000 });
  expect([status, stdout.toString()]).toEqual([0, printed]);
});
