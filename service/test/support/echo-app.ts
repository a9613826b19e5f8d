import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { type Clock, SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { testContext } from "./test-context.js";

interface EchoAppOptions {
  trustedProxies?: string[];
  requestsPerMinute?: number;
  maxConnections?: number;
  maxConnectionsPerCaller?: number;
  clock?: Clock;
}

/** Builds an app that repeats bodies and callers, and has routes with rate limits of their own. */
export async function buildEchoApp({ clock = SYSTEM_CLOCK, ...change }: EchoAppOptions = {}) {
  const app = await buildApp(
    { ...testContext(), clock },
    {
      requestsPerMinute: 10_000,
      maxConnections: 100,
      trustedProxies: [],
      ...change,
    },
  );
  let routed = 0;
  app.addHook("onRequest", (_request, _reply, done) => {
    routed++;
    done();
  });
  await app.register(async (routes: App) => {
    routes.post("/echo", async ({ body }) => body);
    routes.get("/caller", async ({ ip }) => ({ ip }));
    routes.get("/rare", { config: { rate: { name: "rare", perMinute: 2 } } }, async () => ({}));
    routes.get("/free", { config: { rate: null } }, async () => ({}));
  });
  return { app, routed: () => routed };
}

/** Starts an app that `buildEchoApp` builds. It is closed after the file's tests. */
export async function startEchoApp(change: EchoAppOptions = {}) {
  const { app, routed } = await buildEchoApp(change);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  closeAtEnd(() => app.close());
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(`${url}${path}`, { method, headers });
  return { port: Number(new URL(url).port), get, server: app.server, routed };
}
