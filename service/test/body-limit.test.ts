import { buildApp } from "@dataset-oracle/service/http-server/app";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { expect, test } from "vitest";
import { testContext } from "./support/test-context.js";

async function start() {
  const read: number[] = [];
  const app = await buildApp(testContext(), {
    requestsPerMinute: 10,
    reserved: { isFor: (address) => address === "192.0.2.9", requestsPerMinute: 10 },
    maxConnections: 100,
    trustedProxies: ["127.0.0.1"],
  });
  closeAtEnd(() => app.close());
  app.post("/echo", async ({ body }) => void read.push(JSON.stringify(body).length));
  const post = (bytes: number, from: string, headers: Record<string, string> = {}) =>
    app.inject({
      method: "POST",
      url: "/echo",
      headers: { "content-type": "application/json", "x-forwarded-for": from, ...headers },
      payload: JSON.stringify("x".repeat(bytes - 2)),
    });
  return { post, read };
}

test("bodies are counted by their bytes, and not read above the limit", async () => {
  const { post, read } = await start();
  for (let i = 0; i < 2; i++) expect((await post(16_000, "192.0.2.1")).statusCode).toBe(200);
  const refused = await post(16_000, "192.0.2.1");
  expect(refused.json()).toMatchObject({
    code: "too_many_requests",
    detail: expect.stringContaining("bodies of a caller's requests may have 40960 bytes per minute"),
  });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(read.length).toBe(2);
  expect((await post(16_000, "192.0.2.2")).statusCode).toBe(200);
});

test("a body without a length counts as the largest that its route allows", async () => {
  const { post } = await start();
  const chunked = { "transfer-encoding": "chunked" };
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) statuses.push((await post(10, "192.0.2.1", chunked)).statusCode);
  expect(statuses[2]).toBe(429);
});

test("a caller with a reserved share is limited by its requests only", async () => {
  const { post, read } = await start();
  for (let i = 0; i < 5; i++) await post(16_000, "192.0.2.9");
  expect(read.length).toBe(5);
});
