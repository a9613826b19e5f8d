import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

let answer: { status: number; body: string };
const server = createServer((_, response) => response.writeHead(answer.status).end(answer.body));
let getOverview: typeof import("../src/operator-api.js").getOverview;

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  // The page derives the operator's URL from its own.
  vi.stubGlobal("location", { href: `http://127.0.0.1:${(server.address() as AddressInfo).port}/#/` });
  ({ getOverview } = await import("../src/operator-api.js"));
});
afterAll(() => {
  vi.unstubAllGlobals();
  server.closeAllConnections();
  server.close();
});

test.each([200, 502])("an answer that is not JSON, with the status %i, is reported as such", async (status) => {
  answer = { status, body: "<html>Bad gateway</html>" };
  expect(await getOverview()).toEqual({
    ok: false,
    error: {
      code: "unexpected_answer",
      title: "Something other than the operator answered.",
      detail: expect.stringContaining(`has the status ${status} and is not JSON`),
      retryAfter: null,
    },
  });
});

test("a problem without a code is an unexpected answer, with advice", async () => {
  answer = { status: 500, body: "null" };
  expect(await getOverview()).toMatchObject({ error: { code: "unexpected_answer", detail: "Try again." } });
});

test("a stream of samples that ends without advice is reported as broken off", async () => {
  const { fetchAdvice } = await import("../src/spec-builder/fetch-advice.js");
  answer = { status: 200, body: 'event: sample\ndata: {"taken":1}\n\n' };
  const body = { network_id: 42, dataset: "0x1", spec: "{}", arguments: [], samples: 2, seconds: 2 } as never;
  const onSample = vi.fn();
  expect(await fetchAdvice(body, onSample, new AbortController().signal)).toMatchObject({
    ok: false,
    error: { code: "broken_off" },
  });
  expect(onSample).toHaveBeenCalledExactlyOnceWith({ taken: 1 });
});

test("a connection that ends without an answer is reported as such", async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  expect(await getOverview()).toMatchObject({ ok: false, error: { code: "unreachable" } });
});
