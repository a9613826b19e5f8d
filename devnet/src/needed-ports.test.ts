import { expect, test } from "vitest";
import { requireFreePorts } from "./needed-ports.js";

test("a port that browsers do not connect to is refused with the reason, before anything is started", async () => {
  const ports = [{ role: "the operator", port: 10_080, option: "--operator-port" }];
  await expect(requireFreePorts(ports)).rejects.toThrow(
    "--operator-port (the operator): browsers and fetch refuse to connect to port 10080. Choose another.",
  );
});
