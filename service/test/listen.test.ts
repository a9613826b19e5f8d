import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { listen } from "@dataset-oracle/service/http-server/listen";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { expect, test } from "vitest";
import { buildEchoApp } from "./support/echo-app.js";

const GET_FREE = "GET /free HTTP/1.1\r\nhost: x\r\n\r\n";
const LAST = "GET /free HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

/** Starts an app at two addresses, as most machines give `localhost`. */
async function start(...[change]: Parameters<typeof buildEchoApp>) {
  const { app, routed } = await buildEchoApp(change);
  const url = await listen(app, { host: "localhost", port: 0 }, undefined, async () => ["127.0.0.1", "127.0.0.2"]);
  const close = closeAtEnd(() => app.close());
  return { port: Number(new URL(url).port), routed, close };
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

const HOSTS = ["127.0.0.1", "127.0.0.2"];

test.each(HOSTS)("localhost is listened on at %s", async (host) => {
  const { port } = await start();
  expect(await send(port, host, LAST)).toMatch(/^HTTP\/1\.1 200 /);
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

test.each(HOSTS)("a service at localhost closes, although a connection to %s is open", async (host) => {
  const { port, close } = await start();
  const [silent, used] = await Promise.all([open(port, host), open(port, host)]);
  used.write(GET_FREE);
  await once(used, "data");
  const ended = [silent, used].map((socket) => once(socket.resume(), "close"));
  await close();
  await Promise.all(ended);
  await expect(open(port, host)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});
