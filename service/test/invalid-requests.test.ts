import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { Type } from "@sinclair/typebox";
import { afterAll, describe, expect, test } from "vitest";
import { testContext } from "./support/test-context.js";

const Body = Type.Object(
  {
    count: Type.Integer({ maximum: 999 }),
    ratio: Type.Optional(Type.Number()),
    address: Type.Optional(Type.String({ pattern: "^0x[0-9a-f]{4}$" })),
    broadcast: Type.Boolean(),
  },
  { additionalProperties: false },
);

const app = await buildApp(testContext(), {
  requestsPerMinute: 10_000,
  maxConnections: 100,
  trustedProxies: [],
});
await app.register(async (routes: App) => {
  routes.post("/echo", { schema: { body: Body } }, async ({ body }) => body);
  const params = Type.Object({ network: Type.String({ pattern: "^[1-9][0-9]*$" }) });
  const querystring = Type.Object(
    { key: Type.String(), limit: Type.Optional(Type.Integer({ maximum: 9 })) },
    { additionalProperties: false },
  );
  routes.get("/networks/:network", { schema: { params, querystring } }, async ({ query }) => query);
  const inPath = Type.Object({ network: Type.Integer({ minimum: 1 }) });
  routes.get("/data/:network/:key", { schema: { params: inPath } }, async ({ params: { network } }) => ({ network }));
});
const url = await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => app.close());

async function post(body: string, headers: Record<string, string> = { "content-type": "application/json" }) {
  const response = await fetch(`${url}/echo`, {
    method: "POST",
    headers,
    body: new TextEncoder().encode(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("an unambiguous body", () => {
  test.each([
    ['{"count":42,"broadcast":true}', "application/json"],
    ['{ "count": 42, "broadcast": true }', "application/json; charset=utf-8"],
    ['{"count":-7,"ratio":0.25,"broadcast":true}', 'application/json;charset="UTF-8"'],
  ])("%s as %s is accepted, also after a byte order mark", async (body, contentType) => {
    for (const mark of ["", "\ufeff"]) {
      const answer = await post(mark + body, { "content-type": contentType });
      expect(answer).toEqual({ status: 200, body: JSON.parse(body) });
    }
  });

  const inexact =
    "The number 42.0 has an exponent, trailing zeros, or more digits than a double can hold. Write it in plain " +
    "digits, at most 15 of them.";
  const long = `{"count":1,"broadcast":true,"${"x".repeat(10_000)}":1}`;
  test.each<[body: string, detail: string]>([
    ['{"count":1,"broadcast":true,"broadcast":false}', "The property broadcast appears twice. Keep one."],
    ['{"count":42.0,"broadcast":true}', inexact],
    ['{"count":9007199254740993,"broadcast":true}', "The number 9007199"],
    ['{"count":1,"ratio":1.5e-7,"broadcast":true}', "The number 1.5e-7"],
    ["1e+21", "The number 1e+21"],
    ['{"count":1,"ratio":0.1234567890123456}', "The number 0.1234567890123456 has an exponent"],
    ['{"broad_cast":true}', "broad_cast is unknown; the right name is broadcast."],
    ['{"COUNT":1}', "COUNT is unknown; the right name is count."],
    ['{"count":1,"broadcast":true,"__proto__":{}}', "__proto__ is unknown"],
    ['{"count":1,"broadcast":true,"address":"0x1"}', "address must match ^0x[0-9a-f]{4}$."],
    [long, `${"x".repeat(64)}... is unknown`],
  ])("%s is a 400 that names the fix", async (body, detail) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_body", errors: expect.any(Array) } });
    expect(answer.body.detail).toContain(detail);
    expect(JSON.stringify(answer.body).length).toBeLessThan(1_000);
  });

  test("invalid or too deeply nested JSON is a 400", async () => {
    for (const body of ["", "{", "[".repeat(16_000), '{"count":1,}', '{"count":"\u0000"}']) {
      expect(await post(body)).toMatchObject({ status: 400, body: { code: "bad_request" } });
    }
  });

  const notJson = "The content type is not JSON.";
  const notPlain = "The body is compressed or not in UTF-8.";
  test.each<[headers: Record<string, string>, title: string]>([
    [{}, notJson],
    [{ "content-type": "text/plain" }, notJson],
    [{ "content-type": "application/x-www-form-urlencoded" }, notJson],
    [{ "content-type": "application/json; charset=utf-16" }, notPlain],
    [{ "content-type": "application/json", "content-encoding": "gzip" }, notPlain],
  ])("with the headers %o it is a 415", async (headers, title) => {
    const answer = await post('{"count":42,"broadcast":true}', headers);
    expect(answer).toMatchObject({ status: 415, body: { code: "unsupported_media_type", title } });
  });
});

describe("a part of a request that is not its body", () => {
  async function get(path: string) {
    const response = await fetch(`${url}${path}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  test("is accepted when it is valid", async () => {
    expect(await get("/networks/42?key=K&limit=9")).toEqual({ status: 200, body: { key: "K", limit: 9 } });
  });

  test("is invalid_query with each wrong parameter in `errors`", async () => {
    const { status, body } = await get("/networks/42?limit=10&colour=red&Key=K");
    expect([status, body.code]).toEqual([400, "invalid_query"]);
    const errors = body.errors as { property: string; problem: string }[];
    expect(errors.map(({ property }) => property).toSorted()).toEqual(["Key", "colour", "key", "limit"]);
    expect(body.detail).toContain("Key is unknown; the right name is key.");
    for (const { property, problem } of errors) expect(body.detail).toContain(`${property} ${problem}`);
  });

  test.each(["42.5", "4.2e1", "0x2a", "042", "+42", "-42", "42%20"])(
    "is invalid_path for the number %s",
    async (network) => {
      const { status, body } = await get(`/data/${network}/KEY`);
      expect([status, body.code]).toEqual([400, "invalid_path"]);
      expect(await get("/data/42/KEY")).toEqual({ status: 200, body: { network: 42 } });
    },
  );

  test("is invalid_path with the wrong parameter in `errors`", async () => {
    const { status, body } = await get("/networks/mainnet?key=K");
    expect([status, body.code]).toEqual([400, "invalid_path"]);
    expect(body.errors).toEqual([{ property: "network", problem: expect.stringContaining("must match") }]);
  });
});
