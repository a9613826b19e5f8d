import { spawnSync } from "node:child_process";

/** True if this machine has curl. Without it, tests of printed curl commands are skipped. */
export const HAS_CURL = spawnSync("curl", ["--version"]).status === 0;
