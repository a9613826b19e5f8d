import { expect, test } from "vitest";
import { runDevnetToEnd } from "./devnet-process.js";

test.concurrent.each([
  [["--chain-port", "70000"], "--chain-port 70000 is not a whole number from 1 to 65535."],
  [["--operator-port", "7601", "--provider-port", "7600"], "Port 7601 is assigned to the operator and to provider 2."],
  [["--operators", "4", "--heartbeat", "10"], "--heartbeat is 10. Operators that take turns need 19 or more"],
])("%j are refused before anything is started", async (args, reason) => {
  const { exitCode, output } = await runDevnetToEnd(args);
  expect(exitCode).toBe(2);
  expect(output).toContain(reason);
  expect(output).not.toContain("Starting");
});
