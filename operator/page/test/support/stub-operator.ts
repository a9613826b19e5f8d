import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, vi } from "vitest";

interface StubAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Runs a server that answers each request with `answer`, for all tests of a file. Import the page's modules in a hook
 * or a test: they read the operator's URL when they load, and the server has no port before.
 */
export function useStubOperator() {
  const server = createServer((request, response) => {
    stub.asked.push(request.url ?? "");
    const { status, contentType, body, headers } = stub.answer;
    response.writeHead(status, { "content-type": contentType, ...headers }).end(body);
  });
  const stub = {
    /** The paths and queries of all requests. */
    asked: [] as string[],
    answer: { status: 200, contentType: "application/json", body: "" } as StubAnswer,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    // The page derives the operator's URL from its own.
    vi.stubGlobal("location", { href: `http://127.0.0.1:${(server.address() as AddressInfo).port}/#/` });
  });
  afterAll(async () => {
    vi.unstubAllGlobals();
    await stub.close();
  });
  return stub;
}
