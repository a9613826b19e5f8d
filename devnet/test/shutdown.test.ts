import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { chainOf, family, freePortOptions, isRunning, NPM_START, spawnDevnet } from "./devnet-process.js";

/** Starts a devnet, and waits until it is at a step and has started the chain's process. */
async function startUntil(step: string, command?: readonly string[]) {
  const { child, output } = spawnDevnet(await freePortOptions(), command);
  onTestFinished(() => void child.kill("SIGTERM"));
  await expect.poll(output, { interval: 5 }).toContain(step);
  await expect.poll(() => chainOf(family(child.pid as number)), { interval: 5 }).toHaveLength(1);
  return { child, output, pids: family(child.pid as number) };
}

const untilGone = (pids: readonly number[]) => expect.poll(() => pids.filter(isRunning)).toEqual([]);

// devnet.test.ts ends one that is ready.
test.runIf(process.platform === "linux").each([
  ["it is ended while it compiles", "SIGTERM", "Compiling", undefined],
  ["npm is killed while the chain starts", "SIGKILL", "Starting the chain", NPM_START],
] as const)("all processes end when %s", async (_, signal, step, command) => {
  const { child, output, pids } = await startUntil(step, command);
  child.kill(signal);
  await untilGone(pids);
  expect(output()).not.toContain("failed");
});

test.runIf(process.platform === "linux")("all processes end when the chain ends", async () => {
  const { child, output, pids } = await startUntil("Compiling");
  for (const pid of chainOf(pids)) process.kill(pid, "SIGKILL");
  if (child.exitCode === null) await once(child, "exit");
  await untilGone(pids);
  expect(output()).toContain("The chain has ended unexpectedly. Stopping everything.");
  expect(child.exitCode).toBe(1);
});
