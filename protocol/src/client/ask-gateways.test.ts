import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { afterAll, expect, test } from "vitest";
import { askGateways } from "./ask-gateways.js";

const SENDER = "0x00000000000000000000000000000000000000aA";
const DATA: Hex = "0x1234";
/** More than an answer takes. */
const LONG_MS = 60_000;

let asked: string[] = [];
/** What is answered at each path. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  "/good": (response) => response.end('{"data":"0x5678"}'),
  "/busy": (response) => response.writeHead(503).end('{"message":"No quorum."}'),
  "/html": (response) => response.writeHead(502).end("<html>"),
  "/text": (response) => response.end('{"data":"a value"}'),
  "/large": (response) => response.end(`{"data":"0x${"5a".repeat(150_000)}"}`),
  "/silent": () => {},
  "/slow": (response) => {
    const drip = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(drip));
  },
};

const server = createServer((request, response) => {
  const path = request.url ?? "";
  asked.push(`${request.method} ${path}`);
  request.resume();
  ANSWERS[path.split("?")[0] ?? ""]?.(response);
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const ask = (paths: readonly string[], timeoutMs = LONG_MS) => {
  asked = [];
  return askGateways({ data: DATA, sender: SENDER, urls: paths.map((path) => base + path) }, timeoutMs);
};

test("a gateway is asked by GET where its URL has a place for the data, and else by POST", async () => {
  expect(await ask(["/good?{sender}/{data}"])).toBe("0x5678");
  expect(asked).toEqual([`GET /good?${SENDER.toLowerCase()}/${DATA}`]);
  await ask(["/good"]);
  expect(asked).toEqual(["POST /good"]);
});

test.each([
  ["/busy", "HTTP 503: No quorum.", LONG_MS],
  ["/html", "HTTP 502", LONG_MS],
  ["/text", "an answer without data in hex", LONG_MS],
  ["/large", "more than 262144 characters", LONG_MS],
  ["/silent", "no answer within 100 ms", 100],
  ["/slow", "no answer within 100 ms", 100],
])("after %s, the next gateway is asked, and without one the error says: %s", async (path, reason, timeoutMs) => {
  await expect(ask([path], timeoutMs)).rejects.toThrow(`No gateway answered. ${base}${path}: ${reason}`);
  await expect(ask([path, path], timeoutMs)).rejects.toThrow(`${base}${path}: ${reason}; ${base}${path}: ${reason}`);
});

test("the first gateway that answers is the last one that is asked", async () => {
  expect(await ask(["/html", "/good", "/busy"])).toBe("0x5678");
  expect(asked).toEqual(["POST /html", "POST /good"]);
});

test("a caller that gives up is told so, and no other gateway is asked", async () => {
  const signal = AbortSignal.abort(new Error("The caller has gone."));
  const urls = [`${base}/silent`, `${base}/good`];
  await expect(askGateways({ data: DATA, sender: SENDER, urls, requestOptions: { signal } }, LONG_MS)).rejects.toThrow(
    "The caller has gone.",
  );
});
