import { expect, test } from "vitest";
import { BLOCKED_PORTS, requireReachablePort } from "./blocked-ports.js";

/** The oldest Node that we support does not block these two. */
const NEW = [4190, 6679];

test.each([...BLOCKED_PORTS].filter((port) => !NEW.includes(port)))(
  "fetch refuses port %s, and so do we",
  async (port) => {
    const refused = await fetch(`http://127.0.0.1:${port}`).catch((error: Error) => error.cause);
    expect(String(refused)).toContain("bad port");
    expect(() => requireReachablePort("operator.json: port", port)).toThrow(
      `operator.json: port: browsers and fetch refuse to connect to port ${port}. Choose another.`,
    );
  },
);

test.each([0, 80, 443, 8080, 8545, 9080, 10_081, 65_535])("port %s can be used", (port) => {
  expect(() => requireReachablePort("port", port)).not.toThrow();
});
