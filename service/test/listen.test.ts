import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import type { App } from "@dataset-oracle/service/http-server/app";
import { listen } from "@dataset-oracle/service/http-server/serve";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { describe, expect, test } from "vitest";
import { buildEchoApp } from "./support/echo-app.js";

const GET_FREE = "GET /free HTTP/1.1\r\nhost: x\r\n\r\n";
const LAST = "GET /free HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

const HOSTS = ["127.0.0.1", "127.0.0.2"];

/** Starts an app at two addresses, as most machines give `localhost`. */
async function startAtLocalhost(app: App) {
  const url = await listen(app, { host: "localhost", port: 0 }, undefined, async () => [...HOSTS, ...HOSTS]);
  return { port: Number(new URL(url).port), close: closeAtEnd(() => app.close()) };
}

async function start(...[change]: Parameters<typeof buildEchoApp>) {
  const { app, routed } = await buildEchoApp(change);
  return { ...(await startAtLocalhost(app)), routed };
}

/** Opens a connection, which stays open. */
async function open(port: number, host: string) {
  const socket = connect({ port, host });
  closeAtEnd(async () => socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Writes a request on a connection of its own, and returns all that is answered. */
async function send(port: number, host: string, request: string): Promise<string> {
  const socket = await open(port, host);
  socket.write(request);
  return text(socket).catch(() => "");
}

test.each(HOSTS)("localhost is listened on at %s", async (host) => {
  const { port } = await start();
  expect(await send(port, host, LAST)).toMatch(/^HTTP\/1\.1 200 /);
});

test.each(HOSTS)("localhost is not listened on when its port is in use at %s", async (host) => {
  const busy = createServer().listen(0, host);
  closeAtEnd(async () => void busy.close());
  await once(busy, "listening");
  const { port } = busy.address() as AddressInfo;
  const { app } = await buildEchoApp({});
  closeAtEnd(() => app.close());
  await expect(listen(app, { host: "localhost", port }, undefined, async () => HOSTS)).rejects.toMatchObject({
    message: expect.stringContaining(`Port ${port} on localhost is in use.`),
    exitCode: 1,
  });
});

test.each(HOSTS)("a caller's connections to localhost are limited at %s", async (host) => {
  const { port } = await start({ maxConnectionsPerCaller: 1 });
  const held = await open(port, host);
  expect(await send(port, host, LAST)).toBe("");
  held.destroy();
  await expect.poll(() => send(port, host, LAST)).toMatch(/^HTTP\/1\.1 200 /);
});

test.each(HOSTS)("all connections to localhost are limited at %s", async (host) => {
  const { port } = await start({ maxConnections: 1 });
  await open(port, host);
  expect(await send(port, host, LAST)).toBe("");
});

test.each(HOSTS)("a flood of requests to localhost is closed at %s", async (host) => {
  const { port, routed } = await start();
  expect(await send(port, host, GET_FREE.repeat(500) + LAST)).toBe("");
  expect(routed()).toBeLessThan(20);
});

const HALF_A_HEAD = "GET /free HTTP/1.1\r\nhost";
const HALF_A_BODY = "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";

describe.each(HOSTS)("a service at localhost that closes", (host) => {
  test.each([
    ["nothing", ""],
    ["a request that is answered", GET_FREE],
    ["half of the head of a request", HALF_A_HEAD],
    ["half of the body of a request", HALF_A_BODY],
    ["a request that is answered, and half of the next", GET_FREE + HALF_A_HEAD],
  ])(`ends the connections to ${host} on which a client has sent %s`, async (_, sent) => {
    const { port, close } = await start();
    const socket = await open(port, host);
    socket.write(sent);
    if (sent.startsWith(GET_FREE)) await once(socket, "data");
    // What was sent has arrived when this is answered.
    expect(await send(port, host, LAST)).toMatch(/^HTTP\/1\.1 200 /);
    const ended = once(socket.resume(), "close");
    await close();
    await ended;
    await expect(open(port, host)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test(`sends the answers that are due at ${host}, and then ends their connections`, async () => {
    let answer = (_text: string) => {};
    const { app } = await buildEchoApp();
    const asked = new Promise((resolve) => {
      app.get("/waits", () => {
        resolve(null);
        return new Promise((done) => (answer = done));
      });
    });
    const { port, close } = await startAtLocalhost(app);
    const answered = send(port, host, `${GET_FREE.replace("free", "waits")}${HALF_A_HEAD}`);
    await asked;
    const closed = close();
    answer("now");
    expect(await answered).toMatch(/^HTTP\/1\.1 200 .*now$/s);
    await closed;
  });
});
