import { buildApp } from "@dataset-oracle/service/http-server/app";
import { addOpenApi, gatherSchemas } from "@dataset-oracle/service/http-server/openapi";
import { expect, test, vi } from "vitest";
import { testContext } from "./support/test-context.js";

test("the document of the API is generated once, however often it is asked for", async () => {
  const app = await buildApp(testContext(), { requestsPerMinute: 60, maxConnections: 100, trustedProxies: [] });
  await gatherSchemas(app, { title: "A service", description: "", contact: "Nobody", tags: {} });
  app.get("/data", async () => ({}));
  addOpenApi(app);
  await app.ready();
  const generate = vi.spyOn(app, "swagger");
  const first = await app.inject("/openapi.json");
  const second = await app.inject("/openapi.json");
  expect(first.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(Object.keys(first.json().paths)).toEqual(["/data"]);
  expect(second.body).toBe(first.body);
  expect(generate).toHaveBeenCalledTimes(1);
  await app.close();
});
