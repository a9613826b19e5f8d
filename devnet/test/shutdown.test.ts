import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createPublicClient, http } from "viem";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { type Devnet, freePortOptions, isRunning, spawnDevnet, startDevnet } from "./devnet-process.js";
import { postDataRequest } from "./post-data-request.js";

/** Without `prestart`: a second build would replace the files that other tests are using. */
const NPM_START = ["npm", "start", "--ignore-scripts", "--"];

const request = (devnet: Devnet) => ({
  network_id: 42,
  dataset: devnet.dataset,
  key: "SPOTPX/BTC-EUR",
  broadcast: true,
});

/** Returns a process and all its descendants, which Linux lists in /proc. */
function family(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, "utf8");
        return [{ pid: Number(name), parent: Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]) }];
      } catch {
        // The process ended during the search.
        return [];
      }
    });
  const found = [pid];
  for (const member of found) {
    found.push(...parents.filter(({ parent }) => parent === member).map((child) => child.pid));
  }
  return found;
}

/** Returns the process of the chain. */
function chainOf(pids: readonly number[]): number {
  const chain = pids.find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "anvil");
  if (chain === undefined) throw new Error("No process is anvil.");
  return chain;
}

/** Resolves when none of the processes exists any more. */
const untilGone = (pids: readonly number[]) =>
  expect.poll(() => pids.filter(isRunning), { timeout: 15_000, interval: 100 }).toEqual([]);

describe.runIf(process.platform === "linux")("all processes end", () => {
  let second: Devnet | undefined;
  afterAll(() => second?.interrupt());

  test("when npm gets a SIGTERM; and a second start on the same ports works at once", async () => {
    const ports = await freePortOptions();
    const first = await startDevnet(ports, NPM_START);
    const pids = family(first.process.pid as number);
    // npm, the devnet, the chain, the market, four providers, the operator.
    expect(pids.length).toBeGreaterThanOrEqual(9);
    expect(pids).toEqual(expect.arrayContaining(first.providers.map(({ pid }) => pid)));
    first.process.kill("SIGTERM");
    await untilGone(pids);

    second = await startDevnet(ports);
    expect(second.dataset).toBe(first.dataset);
    const { status, answer } = await postDataRequest(second, request(second));
    expect([status, answer.status]).toEqual([200, "OK"]);
    const client = createPublicClient({ transport: http(second.chain) });
    expect((await client.getTransactionReceipt({ hash: answer.transaction_hash ?? "0x" })).status).toBe("success");
  }, 300_000);

  test("on Ctrl-C, also when the chain does not respond", async () => {
    const pids = family(second?.process.pid as number);
    expect(pids).toHaveLength(8);
    process.kill(chainOf(pids), "SIGSTOP");
    expect(await second?.interrupt()).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test("when the chain ends", async () => {
    const { child, output } = spawnDevnet(await freePortOptions());
    onTestFinished(() => void child.kill("SIGTERM"));
    while (!output().includes("Starting 4 data providers")) await sleep(5);
    const pids = family(child.pid as number);
    process.kill(chainOf(pids), "SIGKILL");
    await untilGone(pids);
    expect(output()).toContain("The chain has ended unexpectedly. Stopping everything.");
    expect(child.exitCode).toBe(1);
  }, 130_000);

  test.each([
    ["it is ended", "SIGTERM", "Starting the chain", undefined],
    ["it is ended", "SIGTERM", "Compiling", undefined],
    ["npm is killed", "SIGKILL", "Starting 4 data providers", NPM_START],
  ] as const)("when %s (%s) during '%s'", async (_, signal, step, command) => {
    const { child, output } = spawnDevnet(await freePortOptions(), command);
    onTestFinished(() => void child.kill("SIGTERM"));
    while (!output().includes(step)) await sleep(5);
    await sleep(100);
    await expect.poll(() => family(child.pid as number).length, { interval: 10 }).toBeGreaterThanOrEqual(2);
    const pids = family(child.pid as number);
    child.kill(signal);
    await untilGone(pids);
    expect(output()).not.toContain("failed");
  });
});
