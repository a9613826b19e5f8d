import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { freePort } from "./free-ports.js";

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
