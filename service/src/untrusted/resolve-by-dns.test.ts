import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { guardedConnector } from "./connector.js";
import { Egress } from "./egress.js";
import { resolveByDns } from "./resolve-by-dns.js";
import { Secrets } from "./secrets.js";

/** A name server on loopback that gives every name one IPv4 address, and no IPv6 address. Returns where it is. */
async function startNameServer(address: string): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address: to }) => {
    const end = query.indexOf(0, 12) + 5;
    const isA = query.readUInt16BE(end - 4) === 1;
    const answer = isA ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)] : [];
    const header = Buffer.from([0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
    socket.send(Buffer.concat([query.subarray(0, 2), header, query.subarray(12, end), Buffer.from(answer)]), port, to);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

test("name servers that change while the process runs are asked from the next name on", async () => {
  const [first, second, third] = [
    await startNameServer("93.184.215.1"),
    await startNameServer("93.184.215.2"),
    await startNameServer("93.184.215.3"),
  ];
  const folder = mkdtempSync(join(tmpdir(), "resolv-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "resolv.conf");
  let servers = first;
  let opened = 0;
  // The system's own file cannot be changed by a test, so the resolver is told what would be read from it.
  const resolve = resolveByDns(file, () => {
    opened += 1;
    const resolver = new Resolver({ timeout: 1_500, tries: 2 });
    resolver.setServers([servers]);
    return resolver;
  });

  /** Names other name servers in the file, by a change of its place or its text. */
  function name(server: string, place: (text: string) => void): void {
    servers = server;
    place(`nameserver ${server}\n`);
  }
  const write = (text: string) => writeFileSync(file, text);
  const link = (text: string) => {
    writeFileSync(join(folder, "other.conf"), text);
    symlinkSync("other.conf", join(folder, "link"));
    renameSync(join(folder, "link"), file);
  };

  name(first, write);
  expect(await resolve("api.example.com")).toEqual(["93.184.215.1"]);
  name(second, write);
  expect(await resolve("api.example.com")).toEqual(["93.184.215.2"]);
  const before = opened;
  rmSync(file);
  expect(await resolve("api.example.com")).toEqual(["93.184.215.2"]);
  write(`nameserver ${second}\n`);
  expect(await resolve("api.example.com")).toEqual(["93.184.215.2"]);
  expect(opened).toBe(before);
  name(third, link);
  expect(await resolve("api.example.com")).toEqual(["93.184.215.3"]);
});

test("a name that no name server resolves is not said to refuse the connection", async () => {
  const open = () => {
    const resolver = new Resolver({ timeout: 1_500, tries: 1 });
    resolver.setServers(["127.0.0.1:1"]);
    return resolver;
  };
  const egress = new Egress(Secrets.NONE, {}, guardedConnector(resolveByDns("/nowhere", open)));
  onTestFinished(() => egress.close());
  const limits = { timeoutMs: 60_000, maxBytes: 1_000 };
  const answer = await egress.fetchText({ url: "https://api.example.com/", method: "GET" }, limits);
  expect(answer).toMatchObject({ error: { code: "unreachable", detail: "its name cannot be resolved" } });
});
