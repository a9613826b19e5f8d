import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { gatherSchemas } from "@dataset-oracle/service/http-server/openapi";
import { Type } from "@sinclair/typebox";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { API_DESCRIPTION, addDocs } from "../src/http/api-docs.js";
import { startChain } from "./support/chain.js";
import { startOperator } from "./support/operator.js";
import { startProviders } from "./support/stub-providers.js";

/** The part of the document that the tests read. */
interface OpenApiJson {
  readonly openapi: string;
  readonly paths: Record<
    string,
    Record<
      string,
      {
        requestBody?: { content: Record<string, { schema: object }> };
        responses?: Record<string, { description: string; headers?: Record<string, object> }>;
      }
    >
  >;
}

let app: App;

beforeAll(async () => {
  const logger = pino({ level: "silent" });
  app = await buildApp({ logger, requestsPerMinute: 100, maxConnections: 10, trustedProxies: [] });
  await gatherSchemas(app, API_DESCRIPTION);
  await app.register(
    async (routes) => {
      routes.get(
        "/data",
        { schema: { summary: "A data point.", response: { 200: Type.Object({}) } } },
        async () => ({}),
      );
      await addDocs(routes as unknown as App);
    },
    { prefix: "/oracle" },
  );
});
afterAll(async () => app?.close());

const get = (url: string) => app.inject({ url });

test.each(["/oracle/docs", "/oracle/docs/"])(
  "%s loads only what is its own, and finds it below the base path",
  async (url) => {
    const { statusCode, headers, body } = await get(url);
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toContain("text/html");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const loaded = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? "");
    expect(loaded.length).toBeGreaterThan(4);
    for (const path of loaded) {
      const file = await get(new URL(path, `http://operator${url}`).pathname);
      expect(file.statusCode, path).toBe(200);
      expect(file.headers["content-security-policy"], path).toBe(policy);
    }
    expect(body.replace(/<script src="[^"]*" charset="UTF-8">\s*<\/script>/g, "")).not.toMatch(
      /<script|<style|\sstyle=/,
    );
  },
);

test("the page reads the same document that is served to programs", async () => {
  const forPrograms = (await get("/oracle/openapi.json")).json();
  expect(Object.keys(forPrograms.paths)).toEqual(["/oracle/data"]);
  expect((await get("/oracle/docs/json")).json()).toEqual(forPrograms);
});

test("reading it does not count against a caller's rate limit", async () => {
  expect((await get("/oracle/docs")).headers["ratelimit-policy"]).toBe('"docs";q=300;w=60');
});

describe("an operator's document", () => {
  let base: string;

  beforeAll(async () => {
    const [chain, providers] = await Promise.all([startChain(42), startProviders(1)]);
    const dataset = await chain.deploy(providers.map(({ address }) => address));
    ({ base } = await startOperator([{ chain, datasets: [dataset], providers }]));
  });

  const readDocument = () => fetch(`${base}/openapi.json`, { signal: AbortSignal.timeout(10_000) });

  test("has every path, with the schemas that validate requests", async () => {
    const response = await readDocument();
    expect(response.status).toBe(200);
    const openapi = (await response.json()) as OpenApiJson;
    expect(openapi.openapi).toBe("3.1.0");
    expect(Object.keys(openapi.paths).toSorted()).toEqual([
      "/alerts",
      "/contradictions",
      "/data",
      "/data/gateway/{networkId}",
      "/data/gateway/{networkId}/{sender}/{data}",
      "/data/request",
      "/datasets",
      "/evidence",
      "/history",
      "/live",
      "/overview",
      "/ready",
      "/specs/advise",
      "/specs/try",
    ]);
    const request = openapi.paths["/data/request"]?.post?.requestBody?.content["application/json"]?.schema;
    expect(request).toMatchObject({
      required: ["network_id", "dataset", "key", "broadcast"],
      additionalProperties: false,
    });
  });

  test("has the limits and their headers", async () => {
    const { paths } = (await (await readDocument()).json()) as OpenApiJson;
    const answers = paths["/data/request"]?.post?.responses;
    expect(Object.keys(answers?.["200"]?.headers ?? {})).toEqual([
      "RateLimit-Policy",
      "RateLimit",
      "Preference-Applied",
    ]);
    expect(answers?.["429"]?.description).toContain("too_many_broadcasts");
    expect(Object.keys(answers?.["429"]?.headers ?? {})).toEqual(["RateLimit-Policy", "RateLimit", "Retry-After"]);
  });
});
