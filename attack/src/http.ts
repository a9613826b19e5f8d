import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";

export interface CallOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** The local address. */
  readonly from?: string;
  readonly timeoutMs?: number;
  readonly agent?: Agent | false;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers?: IncomingHttpHeaders;
  readonly text: string;
}

export interface JsonAnswer extends HttpResponse {
  // biome-ignore lint/suspicious/noExplicitAny: An attack reads what it expects, and fails if that is not there.
  readonly json: any;
}

/** @returns The answer; without one, `status` is 0 and `text` is the reason. */
export function call(url: string, options: CallOptions = {}): Promise<HttpResponse> {
  const { method = "GET", headers = {}, body, from, timeoutMs = 15_000, agent = false } = options;
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const local = from === undefined ? {} : { localAddress: from };
    const request = requestHttp(url, { method, headers, agent, signal, ...local }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", (error) => resolve({ status: 0, text: error.message }));
      response.on("end", () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        });
      });
    });
    request.on("error", (error: NodeJS.ErrnoException) => resolve({ status: 0, text: error.code ?? error.message }));
    request.end(body);
  });
}

/** Posts JSON. The answer has its parsed body as `json`, which is undefined if the body is not JSON. */
export async function postJson(url: string, body: unknown, options: CallOptions = {}): Promise<JsonAnswer> {
  const headers = { "content-type": "application/json", ...options.headers };
  const answer = await call(url, { ...options, method: "POST", headers, body: JSON.stringify(body) });
  return { ...answer, json: parse(answer.text) };
}

function parse(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the port that a server listens on. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Opens a connection. It resolves with null if the connection fails. */
export function openConnection(url: string, from?: string): Promise<Socket | null> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const local = from === undefined ? {} : { localAddress: from };
    const socket = connect({ host: hostname, port: Number(port), ...local });
    socket.on("error", () => resolve(null));
    socket.once("connect", () => resolve(socket));
  });
}

/** The longest pause between two parts of an answer. */
const MAX_GAP_MS = 100;

/**
 * Sends bytes on a new connection and returns the beginning of what comes back, or an empty string if nothing comes in
 * time. The connection stays open meanwhile, because Node drops a request whose client has closed its half.
 */
export async function sendRaw(
  url: string,
  bytes: string | Uint8Array,
  { from, timeoutMs = 3_000 }: { from?: string; timeoutMs?: number } = {},
): Promise<string> {
  const socket = await openConnection(url, from);
  if (socket === null) return "";
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(chunks).toString("latin1"));
    };
    let timer = setTimeout(end, timeoutMs);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(end, MAX_GAP_MS);
    });
    socket.on("close", end);
    socket.write(bytes);
  });
}
