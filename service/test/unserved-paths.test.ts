import { once } from "node:events";
import { connect } from "node:net";
import { buildApp } from "@dataset-oracle/service/http-server/app";
import { pino } from "pino";
import { afterAll, describe, expect, test } from "vitest";
import { testContext } from "./support/test-context.js";

const LIMIT = 60;

const errors: string[] = [];
const logger = pino({ level: "warn" }, { write: (line: string) => void errors.push(line) });

const app = await buildApp(testContext(logger), {
  requestsPerMinute: LIMIT,
  maxConnections: 100,
  trustedProxies: ["127.0.0.1"],
});
app.get("/live", async () => ({}));
await app.register(
  async (routes) => {
    routes.post("/data/request", async () => ({}));
    routes.get("/gateway/:network/:key", async () => ({}));
    routes.post("/gateway/:network", async () => ({}));
  },
  { prefix: "/oracle" },
);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => app.close());

/** Asks for a path exactly as given, which an HTTP client would normalize. Each caller has its own address. */
async function get(path: string, caller: string): Promise<{ status: number; body: string }> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (data) => {
    text += String(data);
  });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${caller}\r\nconnection: close\r\n\r\n`);
  await once(socket, "close");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body };
}

describe("a path that is not served", () => {
  test.each([
    "/:x(",
    "/:x((a+)+)",
    `/live:a(${"(?:a|".repeat(1000)}b${")".repeat(1001)}`,
    "/oracle/gateway",
    "/oracle/gateway/42/KEY/more",
    "/oracle//gateway//42/KEY/more/",
  ])("is 404, and never taken for a pattern: %s", async (path) => {
    const { status, body } = await get(path, "192.0.2.1");
    expect([status, body]).toEqual([404, expect.stringContaining('"no_such_path"')]);
    expect(errors).toEqual([]);
  });

  test("counts against the caller's limit", async () => {
    const statuses: number[] = [];
    for (let i = 0; i <= LIMIT; ++i) statuses.push((await get("/nowhere", "192.0.2.2")).status);
    expect(statuses).toEqual([...Array(LIMIT).fill(404), 429]);
    expect((await get("/live", "192.0.2.2")).status).toBe(429);
    expect((await get("/live", "192.0.2.3")).status).toBe(200);
  });
});

test.each([
  ["/live", "PUT", "GET, HEAD"],
  ["/oracle/gateway/42/a%2Fb", "DELETE", "GET, HEAD"],
  ["/oracle/gateway/42", "GET", "POST"],
  ["/oracle//data/request/", "GET", "POST"],
  ["//oracle/gateway/42//KEY/", "POST", "GET, HEAD"],
])("another method than a path has is 405 with Allow: %s by %s", async (path, method, allow) => {
  const response = await fetch(`${url}${path}`, { method });
  expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
  expect(await response.json()).toMatchObject({ status: 405, code: "method_not_allowed" });
});

test.each(["//live", "/live///", "/live/?a=//b", "/oracle//gateway/42/KEY", "/oracle/gateway//42/KEY/"])(
  "a path is served with slashes too many: %s",
  async (path) => {
    expect((await get(path, "192.0.2.6")).status).toBe(200);
  },
);

test("slashes too many in a path are not a way around its limit", async () => {
  for (let i = 0; i < LIMIT; ++i) await get(i % 2 === 0 ? "//live" : "/live/", "192.0.2.7");
  expect((await get("/live", "192.0.2.7")).status).toBe(429);
});
