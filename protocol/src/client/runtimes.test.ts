// What other runtimes lack, as their documentation and reports of it say. Those that a registry has run in `compatibility`.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";

const DATASET = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const ANSWER = {
  ...{ network_id: 42, dataset: DATASET, key: "SPOTPX/ETH-USD", status: "OK", value: "3000", timestamp: 1_790_000_000 },
  key_hex: "0x53504f5450582f4554482d555344",
  reports: [],
  transaction_hash: `0x${"ab".repeat(32)}`,
};

let answered = 0;
const server = createServer((request, response) => {
  request.resume();
  answered++;
  if (request.url?.startsWith("/gateway")) return void response.end('{"data":"0x5678"}');
  if (request.url?.startsWith("/moved")) return void response.writeHead(307, { location: "/data/request" }).end();
  if (request.url?.startsWith("/long")) return void response.end(" ".repeat(2_000_000));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(ANSWER));
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => void server.close());

beforeEach(() => {
  answered = 0;
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Loads the client as a runtime with the present globals does. */
async function load() {
  vi.resetModules();
  const [{ requestUpdate }, { askGateways }] = await Promise.all([
    import("./request-update.js"),
    import("./ask-gateways.js"),
  ]);
  const request = (url = base, more: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
    requestUpdate({ url, networkId: 42, dataset: DATASET, key: "SPOTPX/ETH-USD", broadcast: true, ...more });
  const lookUp = () => askGateways({ data: "0x1234", sender: DATASET, urls: [`${base}/gateway`] }, 10_000);
  return { request, lookUp };
}

type Fetch = typeof fetch;
const real: Fetch = fetch;

/** Replaces `fetch`. @param change Called with what the client passes. */
function stubFetch(change: (init: RequestInit) => void, answer = async (response: Response) => response) {
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    change(init);
    return answer(await real(url, init));
  });
}

describe("React Native, whose answers have no stream and whose signals have no more than an event", () => {
  beforeEach(() => {
    stubFetch(
      () => {},
      async (response) => {
        const { status, headers, ok } = response;
        return { status, headers, ok, type: "default", text: () => response.text() } as unknown as Response;
      },
    );
    for (const name of ["any", "timeout"] as const) vi.spyOn(AbortSignal, name).mockImplementation(missing);
    vi.spyOn(AbortSignal.prototype, "throwIfAborted").mockImplementation(missing);
    vi.spyOn(AbortSignal.prototype, "reason", "get").mockReturnValue(undefined);
  });
  const missing = () => {
    throw new TypeError("undefined is not a function");
  };

  test("is answered", async () => {
    const { request, lookUp } = await load();
    expect(await request()).toMatchObject({ value: 3000n });
    expect(await lookUp()).toBe("0x5678");
  });

  test("gets an error for an answer that is too long, and is told when its own signal ends a request", async () => {
    const { request } = await load();
    await expect(request(`${base}/long`)).rejects.toMatchObject({ problem: { code: "unexpected_answer" } });
    const caller = new AbortController();
    caller.abort();
    await expect(request(base, { signal: caller.signal })).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("Cloudflare Workers, which know neither redirect: error nor, in older versions, cache", () => {
  test.each([true, false])("are answered; whether the cache can be named: %s", async (isCacheKnown) => {
    const refuse = (init?: RequestInit) => {
      if (init?.redirect === "error")
        throw new TypeError('Invalid redirect value, must be one of "follow" or "manual"');
      if (!isCacheKnown && init !== undefined && "cache" in init)
        throw new Error("The 'cache' field on 'RequestInitializerDict' is not implemented.");
    };
    stubFetch(refuse);
    vi.stubGlobal(
      "Request",
      class {
        constructor(_url: string, init?: RequestInit) {
          refuse(init);
        }
      },
    );
    const { request, lookUp } = await load();
    expect(await request()).toMatchObject({ value: 3000n });
    expect(await lookUp()).toBe("0x5678");
  });
});

test("Next.js gets its own error, by which it leaves a page until it is asked for", async () => {
  const dynamic = Object.assign(new Error("Dynamic server usage: no-store fetch"), { digest: "DYNAMIC_SERVER_USAGE" });
  vi.stubGlobal("fetch", () => Promise.reject(dynamic));
  const { request } = await load();
  await expect(request()).rejects.toBe(dynamic);
});

test("Next.js, which stores what is fetched, stores nothing of this", async () => {
  const caches: unknown[] = [];
  stubFetch((init) => caches.push((init as { cache?: unknown }).cache));
  const { request, lookUp } = await load();
  await request();
  await lookUp();
  expect(caches).toEqual(["no-store", "no-store"]);
});

describe("a redirect is not followed", () => {
  test("in Node", async () => {
    const { request } = await load();
    await expect(request(`${base}/moved`)).rejects.toMatchObject({
      problem: { code: "unreachable", title: expect.stringContaining("it redirects elsewhere") },
    });
    expect(answered).toBe(1);
  });

  test.each([
    ["in a browser", { type: "opaqueredirect", status: 0 }],
    ["nor where a runtime has followed it", { type: "default", status: 200, redirected: true }],
  ])("%s", async (_, response) => {
    vi.stubGlobal("fetch", async () => response);
    const { request } = await load();
    await expect(request()).rejects.toMatchObject({ problem: { code: "unreachable" } });
  });
});
