import { once } from "node:events";
import { connect } from "node:net";
import { buildApp } from "@dataset-oracle/service/http-server/app";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const LIMIT = 60;

const errors: string[] = [];
const logger = pino({ level: "warn" }, { write: (line: string) => void errors.push(line) });

async function startApp() {
  const app = await buildApp({ logger, requestsPerMinute: LIMIT, maxConnections: 100, trustedProxies: ["127.0.0.1"] });
  await app.register(async (routes) => {
    routes.get("/live", async () => ({}));
  });
  await app.register(
    async (routes) => {
      routes.post("/data/request", async () => ({}));
      routes.get("/gateway/:network/:key", async () => ({}));
      routes.post("/gateway/:network", async () => ({}));
    },
    { prefix: "/oracle" },
  );
  return { app, url: await app.listen({ host: "127.0.0.1", port: 0 }) };
}

let service: Awaited<ReturnType<typeof startApp>>;
beforeAll(async () => {
  service = await startApp();
});
afterAll(() => service.app.close());

/** Asks for a path exactly as given, which an HTTP client would normalize. Each caller has its own address. */
async function get(path: string, caller: string): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (data) => {
    text += String(data);
  });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${caller}\r\nconnection: close\r\n\r\n`);
  await once(socket, "close");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

describe("a path that is not served", () => {
  const PATTERNS = [
    "/:x(",
    "/live:x(",
    "/live/:x(((",
    "/:x((a+)+)",
    "/*",
    "/oracle/data/request:(",
    `/live:a(${"(?:a|".repeat(1000)}b${")".repeat(1001)}`,
  ];
  for (const path of PATTERNS) {
    it(`is never taken for a pattern: ${path.slice(0, 40)} is 404`, async () => {
      const { status, body } = await get(path, "192.0.2.1");
      expect(status).toBe(404);
      expect(body).toContain('"no_such_path"');
      expect(errors).toEqual([]);
    });
  }

  it("counts against the caller's limit", async () => {
    const statuses: number[] = [];
    for (let i = 0; i <= LIMIT; ++i) statuses.push((await get("/nowhere", "192.0.2.2")).status);
    expect(statuses.slice(0, LIMIT).every((status) => status === 404)).toBe(true);
    expect(statuses[LIMIT]).toBe(429);
    expect((await get("/live", "192.0.2.2")).status).toBe(429);
    expect((await get("/live", "192.0.2.3")).status).toBe(200);
  });
});

describe("another method than a path has", () => {
  it("is 405 with Allow, under a base path too", async () => {
    const wrong = await get("/oracle/data/request?a=1", "192.0.2.4");
    expect(wrong.status).toBe(405);
    expect(wrong.head.toLowerCase()).toContain("\r\nallow: post\r\n");
    const response = await fetch(`${service.url}/live`, { method: "PUT", signal: AbortSignal.timeout(5_000) });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
  });

  it.each([
    ["/oracle/gateway/42/KEY", "POST", "GET, HEAD"],
    ["/oracle/gateway/42/KEY?a=1", "PATCH", "GET, HEAD"],
    ["/oracle/gateway/42/a%2Fb", "DELETE", "GET, HEAD"],
    ["/oracle/gateway/42", "GET", "POST"],
    ["/oracle/data/request", "PUT", "POST"],
    ["/oracle//data/request", "GET", "POST"],
    ["/oracle/data/request/", "GET", "POST"],
    ["//oracle/gateway/42//KEY/", "POST", "GET, HEAD"],
  ])("is 405 with Allow on a path with parameters too: %s by %s", async (path, method, allow) => {
    const response = await fetch(`${service.url}${path}`, { method, signal: AbortSignal.timeout(5_000) });
    expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    expect(await response.json()).toMatchObject({ status: 405, code: "method_not_allowed" });
  });

  it.each(["/oracle/gateway", "/oracle/gateway/42/KEY/more", "/oracle//gateway//42/KEY/more/"])(
    "is 404 where a path has too few or too many parts: %s",
    async (path) => {
      const { status, body } = await get(path, "192.0.2.5");
      expect(status).toBe(404);
      expect(body).toContain('"no_such_path"');
    },
  );
});

it.each(["//live", "/live/", "//live///", "/live/?a=//b", "/oracle//gateway/42/KEY", "/oracle/gateway//42/KEY/"])(
  "a path is served with slashes too many: %s",
  async (path) => {
    expect((await get(path, "192.0.2.6")).status).toBe(200);
  },
);

it("slashes too many in a path are not a way around its limit", async () => {
  for (let i = 0; i < LIMIT; ++i) await get(i % 2 === 0 ? "//live" : "/live/", "192.0.2.7");
  expect((await get("/live", "192.0.2.7")).status).toBe(429);
});
