import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { requireFreePorts } from "./needed-ports.js";

test("a port that browsers do not connect to is refused with the reason, before anything is started", async () => {
  const ports = [{ role: "the operator", port: 10_080, option: "--operator-port" }];
  await expect(requireFreePorts(ports)).rejects.toThrow(
    "--operator-port (the operator): browsers and fetch refuse to connect to port 10080. Choose another.",
  );
});

test("a busy port is named, with the option that changes it", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(requireFreePorts([{ role: "the operator", port, option: "--operator-port" }])).rejects.toThrow(
    `${port}, for the operator. Choose another: npm start -- --operator-port N`,
  );
  server.close();
});

test("two roles cannot share a port", async () => {
  const ports = [
    { role: "the operator", port: 7601, option: "--operator-port" },
    { role: "provider 2", port: 7601, option: "--provider-port" },
  ];
  await expect(requireFreePorts(ports)).rejects.toThrow(
    "Port 7601 is assigned to the operator and to provider 2. Change --provider-port.",
  );
});
