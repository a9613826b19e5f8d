import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startEchoApp } from "./support/echo-app.js";

const BODY = '{"count":1}';

/** An open connection, and everything received on it until it was closed. */
async function open(
  port: number,
  localAddress = "127.0.0.1",
): Promise<{ socket: Socket; text: Promise<string>; isClosed: () => boolean }> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  closeAtEnd(async () => socket.destroy());
  let read = "";
  socket.on("data", (data) => {
    read += String(data);
  });
  socket.on("error", () => {});
  const text = new Promise<string>((resolve) => socket.once("close", () => resolve(read)));
  await once(socket, "connect");
  return { socket, text, isClosed: () => socket.destroyed };
}

/** Writes a request on a connection of its own, and returns everything that is answered. */
async function send(port: number, request: string, from?: string): Promise<string> {
  const { socket, text } = await open(port, from);
  socket.write(request);
  return text;
}
const GET_FREE = "GET /free HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

const bodyOf = (answer: string) => JSON.parse(answer.split("\r\n\r\n")[1] ?? "");

describe("a connection", () => {
  test("that is too slow is closed with 408", async () => {
    const { port, server } = await startEchoApp();
    expect([server.headersTimeout, server.requestTimeout]).toEqual([5_000, 10_000]);
    const accepted = once(server, "connection");
    const { text } = await open(port);
    const [socket] = await accepted;
    server.emit("clientError", Object.assign(new Error(), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
    const detail = expect.stringContaining("within 5 s");
    expect(bodyOf(await text)).toMatchObject({ status: 408, code: "bad_request", detail });
  });

  test("above maxConnections is closed unanswered, and the next is served when one becomes free", async () => {
    const { port } = await startEchoApp({ maxConnections: 3 });
    const [first] = await Promise.all([open(port), open(port), open(port)]);
    const ask = () => send(port, GET_FREE);
    expect(await ask()).toBe("");
    first.socket.destroy();
    await expect.poll(ask).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("above maxConnectionsPerCaller is closed unanswered, while other callers are served", async () => {
    const { port } = await startEchoApp({ maxConnections: 30, maxConnectionsPerCaller: 3 });
    const ask = (from: string) => send(port, GET_FREE, from);
    // One address tries to take every connection, each busy with requests that no limit counts.
    const held = await Promise.all(Array.from({ length: 40 }, () => open(port)));
    await expect.poll(() => held.filter(({ isClosed }) => isClosed()).length).toBe(37);
    expect(await ask("127.0.0.1")).toBe("");
    expect(await ask("127.0.0.2")).toMatch(/^HTTP\/1\.1 200 /);
    held.find(({ isClosed }) => !isClosed())?.socket.destroy();
    await expect.poll(() => ask("127.0.0.1")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("of a trusted proxy is not limited per caller, because all callers share it", async () => {
    const { port } = await startEchoApp({ maxConnectionsPerCaller: 1, trustedProxies: ["127.0.0.2"] });
    const held = await Promise.all(Array.from({ length: 5 }, () => open(port, "127.0.0.2")));
    held[4]?.socket.write(GET_FREE);
    expect(await held[4]?.text).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each(["content-length: 1000000000", "transfer-encoding: chunked"])(
    "is closed after its answer if the request's body may go on: %s",
    async (header) => {
      const { port } = await startEchoApp();
      const answer = await send(port, `GET /free HTTP/1.1\r\nhost: x\r\n${header}\r\n\r\n`);
      expect(answer.match(/^(HTTP.*|connection.*)$/gim)).toEqual(["HTTP/1.1 200 OK", "connection: close"]);
    },
  );

  test("is closed when it is idle, but later than proxies close theirs, and after a thousand requests", async () => {
    const { server } = await startEchoApp();
    expect([server.timeout, server.keepAliveTimeout, server.maxRequestsPerSocket]).toEqual([120_000, 72_000, 1_000]);
  });
});

describe("a flood of requests", () => {
  const GET_NEXT = "GET /free HTTP/1.1\r\nhost: x\r\n\r\n";
  const answersIn = (text: string) => text.match(/HTTP\/1\.1 200 /g)?.length ?? 0;

  test("on one connection that does not wait for answers closes it unrouted, and a few requests at once are answered", async () => {
    const { port, routed } = await startEchoApp();
    expect(answersIn(await send(port, GET_NEXT.repeat(15) + GET_FREE))).toBe(16);
    expect(routed()).toBe(16);
    expect(await send(port, GET_NEXT.repeat(500) + GET_FREE)).toBe("");
    expect(routed()).toBe(32);
    // Who waits for answers may send as many on one connection.
    const { socket, text } = await open(port);
    for (let asked = 0; asked < 100; asked++) {
      socket.write(GET_NEXT);
      await once(socket, "data");
    }
    socket.write(GET_FREE);
    expect(answersIn(await text)).toBe(101);
  });

  test("that expect what Node does not know is one, too", async () => {
    const { port } = await startEchoApp();
    const expecting = GET_NEXT.replace("\r\n\r\n", "\r\nexpect: much\r\n\r\n");
    expect(await send(port, expecting + GET_FREE)).toContain("HTTP/1.1 417");
    const refused = await send(port, expecting.repeat(500) + GET_FREE);
    expect(refused.match(/HTTP\/1.1 417/g)?.length).toBeLessThanOrEqual(16);
  });

  test("of one caller closes all of its connections for the rest of the minute, and others are served meanwhile", async () => {
    let passed = 0;
    const clock = { now: () => Date.now(), monotonic: () => passed };
    const { port, routed } = await startEchoApp({ requestsPerMinute: 1, clock });
    const waiting = await open(port);
    const batch = GET_NEXT.repeat(15) + GET_FREE;
    // Three times the requests of a health check, which are more than those of the service here; connections count too.
    for (let opened = 1; opened <= 42; opened++) expect(answersIn(await send(port, batch))).toBe(16);
    expect(answersIn(await send(port, GET_NEXT.repeat(3) + GET_FREE))).toBe(4);
    waiting.socket.write(GET_FREE);
    expect(await waiting.text).toBe("");
    expect(await send(port, GET_FREE)).toBe("");
    expect(routed()).toBe(42 * 16 + 4);
    expect(await send(port, GET_FREE, "127.0.0.2")).toMatch(/^HTTP\/1\.1 200 /);
    passed = 60_000;
    expect(await send(port, GET_FREE)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("whose bodies come in chunks ends sooner", async () => {
    const { port } = await startEchoApp({ requestsPerMinute: 1 });
    const request = `${GET_NEXT.replace("\r\n\r\n", "\r\ntransfer-encoding: chunked\r\n\r\n")}0\r\n\r\n`;
    for (let sent = 0; sent < 21; sent++) expect(await send(port, request)).toMatch(/^HTTP/);
    expect(await send(port, request)).toBe("");
  });

  test("of connections without one closes those that are opened for the rest of the minute", async () => {
    const { port } = await startEchoApp({ requestsPerMinute: 1 });
    for (let opened = 1; opened < 720; opened++) (await open(port)).socket.destroy();
    // It is counted twice: as a connection, and as a request.
    expect(await send(port, GET_FREE)).toBe("");
    expect(await send(port, GET_FREE, "127.0.0.2")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("of a trusted proxy is answered, because it is of many callers", async () => {
    const { port } = await startEchoApp({ requestsPerMinute: 1, trustedProxies: ["127.0.0.1"] });
    for (let sent = 0; sent < 2_500; sent += 500)
      expect(answersIn(await send(port, GET_NEXT.repeat(499) + GET_FREE))).toBe(500);
  });
});

describe("a request", () => {
  test("that is not valid HTTP is answered with a problem", async () => {
    const { port } = await startEchoApp();
    const answer = await send(port, "FOO /echo HTTP/1.1\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*content-type: application\/problem\+json/);
    expect(bodyOf(answer)).toMatchObject({ status: 400, code: "bad_request" });
  });

  test("may have headers of 8 KiB; more is a 431", async () => {
    const { port } = await startEchoApp();
    const ask = (bytes: number) => send(port, GET_FREE.replace("close", `close\r\nx: ${"y".repeat(bytes)}`));
    expect(await ask(8_000)).toMatch(/^HTTP\/1\.1 200 /);
    const refused = await ask(8_200);
    expect(refused).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    const detail = "Send at most 8192 bytes, including the request line.";
    expect(bodyOf(refused)).toMatchObject({ status: 431, code: "bad_request", detail });
    expect(refused).toContain("\r\nx-content-type-options: nosniff");
  });

  test("may have a body of 16 KiB; more is a 413 before all of it has arrived", async () => {
    const { port } = await startEchoApp();
    const head = "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n";
    const post = (framing: string, body: string) => send(port, `${head}${framing}\r\n\r\n${body}`);
    expect(bodyOf(await post("content-length: 16384", BODY.padEnd(16_384)))).toEqual({ count: 1 });

    const refused = await post("content-length: 16385", "");
    expect(refused).toMatch(/^HTTP\/1\.1 413 /);
    expect(bodyOf(refused)).toMatchObject({ code: "body_too_large", detail: "Send at most 16384 bytes." });

    const chunks = `400\r\n${" ".repeat(1024)}\r\n`.repeat(17);
    expect(await post("transfer-encoding: chunked", chunks)).toMatch(/^HTTP\/1\.1 413 /);
  });
});

test("a body may come in 256 chunks; more is a 400 before all of it has arrived", async () => {
  const { port } = await startEchoApp();
  const head = "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n";
  const post = (spaces: number, end: string) =>
    send(port, `${head}transfer-encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(spaces)}${end}`);
  expect(await post(255, `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`)).toContain(`\r\n\r\n${BODY}`);
  const detail = "Send it in at most 256 chunks, or with a Content-Length.";
  expect(bodyOf(await post(257, ""))).toMatchObject({ status: 400, code: "bad_request", detail });
});

describe("a rate limit", () => {
  const shown = ({ headers }: Response) => [headers.get("ratelimit-policy"), headers.get("ratelimit")];

  test("reports the remaining requests and when the window starts again", async () => {
    const { get } = await startEchoApp({ requestsPerMinute: 3 });
    const seconds = "t=(60|[1-5]?\\d)$";
    const first = shown(await get("/caller", {}, "HEAD"));
    expect(first).toEqual(['"requests";q=3;w=60', expect.stringMatching(`^"requests";r=2;${seconds}`)]);
    expect(shown(await get("/caller"))[1]).toMatch(new RegExp(`^"requests";r=1;${seconds}`));
    await get("/caller");
    const refused = await get("/caller");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(shown(refused)[1]).toMatch(new RegExp(`^"requests";r=0;${seconds}`));
  });

  test.each([3_600_000, -3_600_000])(
    "ends after its minute when the clock is set by %s ms meanwhile",
    async (setMs) => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
      onTestFinished(() => void vi.useRealTimers());
      let passed = 0;
      const clock = { now: () => Date.now(), monotonic: () => passed };
      const { get } = await startEchoApp({ requestsPerMinute: 1, clock });
      const statuses = async () => [(await get("/caller")).status, (await get("/caller")).status];
      expect(await statuses()).toEqual([200, 429]);
      vi.setSystemTime(Date.now() + setMs);
      const refused = await get("/caller");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
      passed = 60_000;
      expect(await statuses()).toEqual([200, 429]);
    },
  );

  test("of a route replaces the common one, or disables it", async () => {
    const { get } = await startEchoApp({ requestsPerMinute: 1 });
    expect(shown(await get("/rare"))).toEqual(['"rare";q=2;w=60', expect.stringMatching(/^"rare";r=1;t=/)]);
    expect((await get("/caller")).status).toBe(200);
    expect((await get("/caller")).status).toBe(429);
    const answers = [await get("/rare"), await get("/rare"), await get("/free"), await get("/free")];
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 200, 200]);
    expect(shown(await get("/free"))).toEqual([null, null]);
  });
});
