import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createPublicClient, http } from "viem";
import { afterAll, describe, expect, test } from "vitest";
import { type Devnet, freePorts, isRunning, post, run, runToEnd, startDevnet } from "./devnet.js";

const NPM_START = ["npm", "start", "--"];

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

/** Resolves when none of the processes exists any more. */
const untilGone = (pids: readonly number[]) =>
  expect.poll(() => pids.filter(isRunning), { timeout: 15_000, interval: 100 }).toEqual([]);

describe.runIf(process.platform === "linux")("all processes end", () => {
  let second: Devnet | undefined;
  afterAll(() => second?.interrupt());

  test("when npm gets a SIGTERM; and a second start on the same ports works at once", async () => {
    const ports = await freePorts();
    const first = await startDevnet(ports, NPM_START);
    const pids = family(first.process.pid as number);
    // npm, the devnet, the chain, the market, four providers, the operator.
    expect(pids.length).toBeGreaterThanOrEqual(9);
    expect(pids).toEqual(expect.arrayContaining(first.providers.map(({ pid }) => pid)));
    first.process.kill("SIGTERM");
    await untilGone(pids);

    second = await startDevnet(ports);
    expect(second.dataset).toBe(first.dataset);
    const { status, answer } = await post(second, request(second));
    expect([status, answer.status]).toEqual([200, "OK"]);
    const client = createPublicClient({ transport: http(second.chain) });
    expect((await client.getTransactionReceipt({ hash: answer.transaction_hash ?? "0x" })).status).toBe("success");
  }, 300_000);

  test("on Ctrl-C, also when the chain does not respond", async () => {
    const pids = family(second?.process.pid as number);
    expect(pids).toHaveLength(8);
    const chain = pids.find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "anvil") ?? 0;
    process.kill(chain, "SIGSTOP");
    expect(await second?.interrupt()).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test.each([
    ["it is ended", "SIGTERM", "Starting the chain", undefined],
    ["it is ended", "SIGTERM", "Compiling", undefined],
    ["npm is killed", "SIGKILL", "Starting 4 data providers", NPM_START],
  ] as const)("when %s (%s) during '%s'", async (_, signal, step, command) => {
    const { child, output } = run(await freePorts(), command);
    while (!output().includes(step)) await sleep(5);
    await sleep(100);
    const pids = family(child.pid as number);
    expect(pids.length).toBeGreaterThanOrEqual(2);
    child.kill(signal);
    await untilGone(pids);
    expect(output()).not.toContain("failed");
  });
});

test("a busy port is named, with the option that changes it, and nothing is started", async () => {
  const ports = await freePorts();
  const port = Number(ports[ports.indexOf("--operator-port") + 1]);
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  try {
    const { exitCode, output } = await runToEnd(ports);
    expect(exitCode).toBe(2);
    expect(output).toContain(`${port}, for the operator. Choose another: npm start -- --operator-port N`);
    expect(output).not.toContain("Starting");
  } finally {
    server.close();
  }
});

test("two roles cannot share a port", async () => {
  const { exitCode, output } = await runToEnd(["--operator-port", "7601", "--provider-port", "7600"]);
  expect(exitCode).toBe(2);
  expect(output).toContain("Port 7601 is assigned to the operator and to provider 2. Change --provider-port.");
});

test("an unknown or invalid option is reported with the help text", async () => {
  const unknown = await runToEnd(["--colour"]);
  expect(unknown.exitCode).toBe(2);
  expect(unknown.output).toContain("--colour");
  expect(unknown.output).toContain("Usage: npm start");

  const senseless = await runToEnd(["--chain-port", "70000"]);
  expect(senseless.exitCode).toBe(2);
  expect(senseless.output).toContain("--chain-port 70000 is not a whole number from 1 to 65535.");
});
