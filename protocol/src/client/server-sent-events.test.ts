import fc from "fast-check";
import { expect, test } from "vitest";
import { type ServerSentEvent, serverSentEvents } from "./server-sent-events.js";

async function* each(parts: Iterable<string>) {
  yield* parts;
}

async function read(parts: Iterable<string>) {
  const events: ServerSentEvent[] = [];
  for await (const event of serverSentEvents(each(parts))) events.push(event);
  return events;
}

test("events are the same, however the text that has them is divided", async () => {
  const line = fc.constantFrom("event: asked", "data: {}", "data:1", ": comment", "", "\r", "\n");
  const text = fc.array(line).map((lines) => lines.map((one) => `${one}\n`).join(""));
  await fc.assert(
    fc.asyncProperty(text, fc.infiniteStream(fc.integer({ min: 1, max: 4 })), async (whole, sizes) => {
      const parts: string[] = [];
      for (let rest = whole; rest !== ""; rest = rest.slice(parts.at(-1)?.length)) {
        parts.push(rest.slice(0, sizes.next().value));
      }
      expect(await read(parts)).toEqual(await read([whole]));
    }),
  );
  expect(await read(["event: a\r\ndata: 1\r", "\n\r", "\ndata: 2\n", "\ndata: 3"])).toEqual([
    { event: "a", data: "1" },
    { event: "message", data: "2" },
  ]);
});

test("an event that arrives in very many parts is not read again with each", async () => {
  function* parts() {
    for (let i = 0; i < 200_000; i++) yield "data\n";
    yield "\n";
  }
  expect(await read(parts())).toEqual([{ event: "message", data: "" }]);
});
