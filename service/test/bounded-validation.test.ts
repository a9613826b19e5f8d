import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { Type } from "@sinclair/typebox";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { testContext } from "./support/test-context.js";

const Body = Type.Object(
  { keys: Type.Array(Type.String({ pattern: "^0x[0-9a-f]+$" }), { minItems: 1, maxItems: 256, uniqueItems: true }) },
  { additionalProperties: false },
);

async function start() {
  const logged: string[] = [];
  const app = await buildApp(testContext(pino({}, { write: (line) => void logged.push(line) })), {
    requestsPerMinute: 10_000,
    maxConnections: 100,
    trustedProxies: [],
  });
  closeAtEnd(() => app.close());
  await app.register(async (routes: App) => {
    routes.post("/rows", { schema: { body: Body }, bodyLimit: 144 * 1024 }, async ({ body }) => body.keys.length);
  });
  const post = async (payload: string) => {
    const answer = await app.inject({
      method: "POST",
      url: "/rows",
      headers: { "content-type": "application/json" },
      payload,
    });
    return { status: answer.statusCode, body: answer.json() };
  };
  return { post, logged };
}

const key = (index: number) => `0x${index.toString(16).padStart(512, "0")}`;
const row = (keys: readonly unknown[]) => JSON.stringify({ keys });

test("deep nesting is a bad_request without a line about a failure", async () => {
  const { post, logged } = await start();
  for (const body of [
    `{"keys":[${"[".repeat(60_000)}${"]".repeat(60_000)}]}`,
    `{"keys":${'{"a":'.repeat(33)}1${"}".repeat(33)}}`,
  ]) {
    expect(await post(body)).toMatchObject({
      status: 400,
      body: { code: "bad_request", detail: "The body is nested more than 32 deep, and no valid one is." },
    });
  }
  expect(logged.map((line) => JSON.parse(line).level)).toEqual([30, 30]);
  // Brackets in texts nest nothing.
  expect((await post(row([`\\"${"[".repeat(100)}`]))).body).toMatchObject({ code: "invalid_body" });
});

test("a list whose items must differ is compared without hashing each character", async () => {
  const { post } = await start();
  // TypeBox calls it for each character that it hashes.
  const hash = vi.spyOn(Math, "log2");
  const keys = Array.from({ length: 256 }, (_, index) => key(index));
  expect(await post(row(keys))).toEqual({ status: 200, body: 256 });
  const answer = await post(row([...keys.slice(1), key(7)]));
  expect(hash).not.toHaveBeenCalled();
  hash.mockRestore();
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toEqual([{ property: "keys", problem: expect.any(String) }]);
});

test("of very many failures the first sixteen are found", async () => {
  const { post } = await start();
  const { status, body } = await post(row(Array(60_000).fill(1)));
  expect([status, body.errors.length]).toEqual([400, 16]);
});
