import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createPublicClient } from "viem";
import { afterAll, expect, test } from "vitest";
import { rpcTransport } from "./rpc-transport.js";

const JSON_TYPE = { "content-type": "application/json" };

let answer: RequestListener = () => {};
const server = createServer((request, response) => answer(request, response));
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const url = `http://name:password@127.0.0.1:${(server.address() as AddressInfo).port}/token`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const getChainId = (path = "", timeoutMs = 60_000) =>
  createPublicClient({ transport: rpcTransport(`${url}${path}`, timeoutMs) }).getChainId();

test("posts calls with the URL's credentials, and returns their results", async () => {
  const seen: unknown[] = [];
  answer = async (request, response) => {
    const call = JSON.parse((await request.toArray()).join(""));
    seen.push(request.method, request.url, request.headers["content-type"], request.headers.authorization, call.method);
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: "2.0", id: call.id, result: "0x2a" }));
  };
  expect(await getChainId()).toBe(42);
  const authorization = `Basic ${Buffer.from("name:password").toString("base64")}`;
  expect(seen).toEqual(["POST", "/token", "application/json", authorization, "eth_chainId"]);
});

test.each<[string, RequestListener, number, string]>([
  ["no answer in time", (_, response) => void response.write("{"), 200, "no answer within 200 ms"],
  [
    "a redirect",
    (_request, response) => void response.writeHead(302, { location: "http://127.0.0.1:1" }).end(),
    60_000,
    "answered 302, and redirects are not followed",
  ],
  [
    "a result of another shape",
    (_request, response) =>
      void response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: [] })),
    60_000,
    "answered HTTP 200 without a usable answer",
  ],
  ["no network", (request) => void request.socket.destroy(), 60_000, "UND_ERR_SOCKET"],
])("fails with %s, and is called once", async (_, listener, timeoutMs, details) => {
  const path = `/${timeoutMs}/${details.replaceAll(" ", "-")}`;
  let calls = 0;
  answer = (request, response) => {
    if (request.url?.endsWith(path)) calls += 1;
    listener(request, response);
  };
  await expect(getChainId(path, timeoutMs)).rejects.toMatchObject({ details });
  expect(calls).toBe(1);
});
