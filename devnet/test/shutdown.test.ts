import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { chainOf, family, freePortOptions, isRunning, NPM_START, spawnDevnet } from "./devnet-process.js";

/** A busy machine starts a process in many seconds, and each step may last for less than one. */
const SOON = { timeout: 100_000, interval: 10 };

/** Starts a devnet, and waits until it is at a step and has started the chain's process. */
async function startUntil(step: string, command?: readonly string[]) {
  const { child, output } = spawnDevnet(await freePortOptions(), command);
  onTestFinished(() => void child.kill("SIGTERM"));
  await expect.poll(output, SOON).toContain(step);
  await expect.poll(() => chainOf(family(child.pid as number)), SOON).toHaveLength(1);
  return { child, output, members: family(child.pid as number) };
}

const untilGone = (members: ReturnType<typeof family>) =>
  expect.poll(() => members.filter(({ pid }) => isRunning(pid)), SOON).toEqual([]);

// devnet-and-documents.test.ts ends one that is ready.
describe.runIf(process.platform === "linux")("all processes end", () => {
  test.each([
    ["it is ended while it compiles", "SIGTERM", "Compiling", undefined],
    ["npm is killed while the chain starts", "SIGKILL", "Starting the chain", NPM_START],
  ] as const)("when %s", async (_, signal, step, command) => {
    const { child, output, members } = await startUntil(step, command);
    child.kill(signal);
    await untilGone(members);
    expect(output()).not.toContain("failed");
  });

  test("when the chain ends", async () => {
    const { child, output, members } = await startUntil("Compiling");
    for (const pid of chainOf(members)) process.kill(pid, "SIGKILL");
    if (child.exitCode === null) await once(child, "exit");
    await untilGone(members);
    expect(output()).toContain("The chain has ended unexpectedly. Stopping everything.");
    expect(child.exitCode).toBe(1);
  });
});

describe("what is refused before anything is started:", () => {
  const redirect = (text: string): [string, string[], string] => [
    `the redirect ${text}`,
    ["--redirect", text],
    "--redirect: write an https origin, =, and an http URL",
  ];
  test.each<[what: string, args: string[], problem: string]>([
    [
      "a heartbeat that leaves operators no time to take turns",
      ["--operators", "4", "--heartbeat", "10"],
      "--heartbeat is 10. Operators that take turns need 19 or more",
    ],
    redirect("https://api.mine.example"),
    redirect("https://api.mine.example/=http://127.0.0.1:9000"),
    redirect("https://api.mine.localhost=http://127.0.0.1:9000"),
    redirect("https://api.mine.example=http://127.0.0.1:9000/"),
    redirect("https://api.mine.example=http://192.168.0.1:9000"),
    redirect("https://api.mine.example=https://127.0.0.1:9000"),
  ])("%s", async (_, args, problem) => {
    const { child, output } = spawnDevnet(args);
    await once(child, "exit");
    expect(child.exitCode).toBe(2);
    expect(output()).toContain(problem);
    expect(output()).not.toContain("Starting");
  });
});
