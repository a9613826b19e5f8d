import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { freePort, requireFreePorts } from "./free-ports.js";

test("a port that browsers do not connect to is refused with the reason, before anything is started", async () => {
  const ports = [{ role: "the operator", port: 10_080, option: "--operator-port" }];
  await expect(requireFreePorts(ports)).rejects.toThrow(
    "--operator-port (the operator): browsers and fetch refuse to connect to port 10080. Choose another.",
  );
});

test("free ports are in a row, and none is returned twice", async () => {
  const first = await freePort(3);
  const others = await Promise.all([freePort(), freePort(2), freePort()]);
  const all = [first, first + 1, first + 2, ...others, (others[1] ?? 0) + 1];
  expect(new Set(all).size).toBe(all.length);

  const server = createServer().listen((await freePort()) + 1, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await freePort(2)).not.toBe(port);
  server.close();
});
