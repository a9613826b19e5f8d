import { Readable } from "node:stream";
import { eventStream } from "@dataset-oracle/service/http-server/event-stream";
import { tooManyRequests } from "@dataset-oracle/service/http-server/http-problems";
import { expect, onTestFinished, test, vi } from "vitest";
import { buildEchoApp } from "./support/echo-app.js";

test("a stream in which nothing happens has a comment every few seconds, and proxies pass it on at once", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { app } = await buildEchoApp();
  let finish = () => {};
  const work = new Promise<object>((done) => (finish = () => done({ done: true })));
  let begin = () => {};
  const begun = new Promise<void>((done) => (begin = done));
  app.get("/stream", (request, reply) => {
    reply.send(eventStream(request, reply, () => work));
    begin();
  });
  const answering = app.inject("/stream");
  await begun;
  vi.advanceTimersByTime(11_000);
  finish();
  const { payload, headers } = await answering;
  expect(payload).toBe(':\n\n:\n\nevent: answer\ndata: {"done":true}\n\n');
  expect(headers).toMatchObject({ "x-accel-buffering": "no", "cache-control": "no-store" });
  expect(vi.getTimerCount()).toBe(0);
});

test("a stream whose end is not read yet has no more comments: nothing may follow the end", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { app } = await buildEchoApp();
  let unread = new Readable();
  app.get("/unread", (request, reply) => {
    unread = eventStream(request, reply, async () => ({ done: true }));
    return reply.send("");
  });
  await app.inject("/unread");
  expect([unread.readableLength > 0, unread.closed]).toEqual([true, false]);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ["problem that says when to try again ends the stream with that", tooManyRequests(60, 7), ',"retry_after":7}'],
  ["other failure ends it with the problem alone", new Error("Broken."), "service's owner.\"}"],
])("a %s", async (_, failure, end) => {
  const { app } = await buildEchoApp();
  app.get("/failing", (request, reply) => reply.send(eventStream(request, reply, () => Promise.reject(failure))));
  const { payload } = await app.inject("/failing");
  expect(payload.startsWith("event: problem\ndata: {")).toBe(true);
  expect(payload.trimEnd().endsWith(end)).toBe(true);
});
