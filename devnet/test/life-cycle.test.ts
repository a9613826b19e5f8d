import { once } from "node:events";
import { createServer } from "node:http";
import { createPublicClient, http } from "viem";
import { expect, test } from "vitest";
import { type Devnet, freePorts, post, runToEnd, startDevnet } from "./devnet.js";

const request = (devnet: Devnet) => ({
  network_id: 42,
  dataset: devnet.dataset,
  key: "SPOTPX/BTC-EUR",
  broadcast: true,
});

/** Whether anything of a devnet still answers. */
async function answers(devnet: Devnet): Promise<boolean> {
  const urls = [devnet.chain, devnet.operator.url, ...devnet.providers.map(({ url }) => url)];
  const results = await Promise.all(
    urls.map((url) =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    ),
  );
  return results.includes(true);
}

test("Ctrl-C ends everything, and a second start at the same ports works at once", async () => {
  const ports = await freePorts();
  const first = await startDevnet(ports);
  expect(await answers(first)).toBe(true);
  expect(await first.interrupt()).toBe(0);
  expect(await answers(first)).toBe(false);

  const second = await startDevnet(ports);
  try {
    expect(second.dataset).toBe(first.dataset);
    const { status, answer } = await post(second, request(second));
    expect([status, answer.status]).toEqual([200, "OK"]);
    const client = createPublicClient({ transport: http(second.chain) });
    expect((await client.getTransactionReceipt({ hash: answer.transaction_hash ?? "0x" })).status).toBe("success");
  } finally {
    await second.interrupt();
  }
}, 300_000);

test("a busy port is named, with the option that changes it, and nothing is started", async () => {
  const ports = await freePorts();
  const port = Number(ports[ports.indexOf("--operator-port") + 1]);
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  try {
    const { exitCode, output } = await runToEnd(ports);
    expect(exitCode).toBe(2);
    expect(output).toContain(`${port}, for the operator. Use another: npm start -- --operator-port N`);
    expect(output).not.toContain("Starting");
  } finally {
    server.close();
  }
});

test("an option that is unknown or senseless is told, with the help", async () => {
  const unknown = await runToEnd(["--colour"]);
  expect(unknown.exitCode).toBe(2);
  expect(unknown.output).toContain("--colour");
  expect(unknown.output).toContain("Usage: npm start");

  const senseless = await runToEnd(["--chain-port", "70000"]);
  expect(senseless.exitCode).toBe(2);
  expect(senseless.output).toContain("--chain-port 70000: a port is a number from 1 to 65535.");
});
