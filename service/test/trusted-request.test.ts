import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { promisify } from "node:util";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { postText } from "@dataset-oracle/service/trusted/post-text";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

const LIMITS = { timeoutMs: 60_000, maxBytes: 1_000 };
const never = new AbortController().signal;

let answer: RequestListener = (_request, response) => void response.end();
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => answer(request, response));
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report?a=b`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const post = (limits = LIMITS, signal = never) =>
  postText({ url, headers: { accept: "application/json" }, body: '{"é":1}' }, limits, TRUSTED_CONNECTIONS, signal);
/** Makes a request that can be repeated. */
const postAgain = (to: string) => postText({ url: to, body: "{}", isRepeatable: true }, LIMITS, TRUSTED_CONNECTIONS);

test("sends JSON to the full URL, and returns any status with its text", async () => {
  const seen: unknown[] = [];
  answer = async (request, response) => {
    const body = (await request.toArray()).join("");
    seen.push(request.method, request.url, request.headers["content-type"], request.headers.accept, body);
    response.writeHead(429, { "content-type": "text/plain", "retry-after": "7" });
    response.write("sl");
    response.end("ow é");
  };
  const [status, contentType, retryAfter, text] = [429, "text/plain", "7", "slow é"];
  expect(await post()).toEqual({ ok: true, value: { status, contentType, retryAfter, text } });
  expect(seen).toEqual(["POST", "/report?a=b", "application/json", "application/json", '{"é":1}']);
});

test.each([
  ["timeout", { timeoutMs: 50, maxBytes: 1_000 }, () => {}],
  ["too_large", LIMITS, (_request, response) => void response.end("x".repeat(1_001))],
  ["redirected", LIMITS, (_request, response) => void response.writeHead(302, { location: "/" }).end()],
  ["not_text", LIMITS, (_request, response) => void response.end(Buffer.from([0xff]))],
  ["unreachable", LIMITS, (request) => void request.socket.destroy()],
] satisfies [string, typeof LIMITS, RequestListener][])(
  "returns %s as a failure",
  async (failure, limits, listener) => {
    answer = listener;
    expect(await post(limits)).toMatchObject({ ok: false, error: { code: failure } });
  },
);

test("names a host name that does not resolve, and a certificate that is refused", async () => {
  const detailOf = async (to: string) => {
    const answer = await postText({ url: to, body: "{}" }, LIMITS, TRUSTED_CONNECTIONS);
    return answer.ok ? null : answer.error.detail;
  };
  expect(await detailOf("https://provider.invalid/")).toMatch(/^(no such host name|its name cannot be resolved)$/);
  const secure = createSecureServer(createCertificateAuthority().issue(["localhost"], -1)).listen(0);
  await once(secure, "listening");
  onTestFinished(() => void secure.close());
  const { port } = secure.address() as AddressInfo;
  expect(await detailOf(`https://localhost:${port}/`)).toMatch(/^its certificate is refused: [A-Z_]+$/);
});

test("can be aborted by its caller, even before it starts", async () => {
  answer = (_request, response) => void response.write("x");
  const caller = new AbortController();
  const waiting = post(LIMITS, caller.signal);
  setTimeout(() => caller.abort(), 50);
  expect(await waiting).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect(await post(LIMITS, AbortSignal.abort())).toMatchObject({ ok: false, error: { code: "aborted" } });
});

describe.each<[how: string, reset: (socket: Socket) => void]>([
  ["closed", (socket) => socket.end()],
  ["reset", (socket) => socket.resetAndDestroy()],
])("when its connection is %s without an answer", (_, reset) => {
  /** Answers the first request of a connection, and closes it at the next. */
  const closing = (): Set<Socket> => {
    const sockets = new Set<Socket>();
    answer = ({ socket }, response) => {
      if (sockets.has(socket)) reset(socket);
      else response.end("ok");
      sockets.add(socket);
    };
    return sockets;
  };

  test("a request that can be repeated is made once more on a new connection, if that one was used before", async () => {
    const sockets = closing();
    for (let i = 0; i < 5; i++) {
      expect(await postAgain(url)).toMatchObject({ ok: true, value: { text: "ok" } });
    }
    expect(sockets.size).toBeGreaterThan(1);
  });

  test("a request that can change something is not made again", async () => {
    closing();
    const answers = [await post(), await post(), await post()];
    expect(answers.filter(({ ok }) => !ok).length).toBeGreaterThan(0);
  });

  test("a request is not made again if its connection was new", async () => {
    let requests = 0;
    const silent = createServer(({ socket }) => {
      requests++;
      reset(socket);
    });
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
    const { port } = silent.address() as AddressInfo;
    const answered = await postAgain(`http://127.0.0.1:${port}`);
    expect(answered).toMatchObject({ ok: false, error: { code: "unreachable" } });
    expect(requests).toBe(1);
    silent.close();
  });
});

test("does not keep a process alive, and works where Node's own fetch has been used before", async () => {
  answer = (_request, response) => void response.end("ok");
  const script = `
    import { postText } from "@dataset-oracle/service/trusted/post-text";
    await (await fetch(${JSON.stringify(url)})).text();
    import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
    const request = { url: ${JSON.stringify(url)}, body: "{}" };
    console.log((await postText(request, ${JSON.stringify(LIMITS)}, TRUSTED_CONNECTIONS)).value.text);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    timeout: 60_000,
  });
  expect(stdout).toBe("ok\n");
});
