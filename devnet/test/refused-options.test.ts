import { once } from "node:events";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import { freePortOptions, runDevnetToEnd } from "./devnet-process.js";

test("a busy port is named, with the option that changes it, and nothing is started", async () => {
  const ports = await freePortOptions();
  const port = Number(ports[ports.indexOf("--operator-port") + 1]);
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  try {
    const { exitCode, output } = await runDevnetToEnd(ports);
    expect(exitCode).toBe(2);
    expect(output).toContain(`${port}, for the operator. Choose another: npm start -- --operator-port N`);
    expect(output).not.toContain("Starting");
  } finally {
    server.close();
  }
});

test("two roles cannot share a port", async () => {
  const { exitCode, output } = await runDevnetToEnd(["--operator-port", "7601", "--provider-port", "7600"]);
  expect(exitCode).toBe(2);
  expect(output).toContain("Port 7601 is assigned to the operator and to provider 2. Change --provider-port.");
});

test("an unknown or invalid option is reported with the help text", async () => {
  const unknown = await runDevnetToEnd(["--colour"]);
  expect(unknown.exitCode).toBe(2);
  expect(unknown.output).toContain("--colour");
  expect(unknown.output).toContain("Usage: npm start");

  const senseless = await runDevnetToEnd(["--chain-port", "70000"]);
  expect(senseless.exitCode).toBe(2);
  expect(senseless.output).toContain("--chain-port 70000 is not a whole number from 1 to 65535.");
});

test("a heartbeat in which several operators cannot take turns is refused", async () => {
  const { exitCode, output } = await runDevnetToEnd(["--operators", "4", "--heartbeat", "10"]);
  expect(exitCode).toBe(2);
  expect(output).toContain("--heartbeat is 10. Operators that take turns need 19 or more");
  expect(output).not.toContain("Starting");
});
