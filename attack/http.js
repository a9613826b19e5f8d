import { request as requestHttp } from "node:http";
import { connect } from "node:net";

/** @returns The answer; without one, `status` is 0 and `text` is the reason. */
export function call(url, { method = "GET", headers = {}, body, from, timeoutMs = 15_000, agent = false } = {}) {
  return new Promise((resolve) => {
    const options = { method, headers, agent, localAddress: from, signal: AbortSignal.timeout(timeoutMs) };
    const request = requestHttp(url, options, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", (error) => resolve({ status: 0, text: error.message }));
      response.on("end", () => {
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() });
      });
    });
    request.on("error", (error) => resolve({ status: 0, text: error.code ?? error.message }));
    request.end(body);
  });
}

/** Posts JSON. The answer has its parsed body as `json`, which is undefined if the body is not JSON. */
export async function postJson(url, body, options = {}) {
  const headers = { "content-type": "application/json", ...options.headers };
  const answer = await call(url, { ...options, method: "POST", headers, body: JSON.stringify(body) });
  return { ...answer, json: parse(answer.text) };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Opens a connection. It resolves with null if the connection fails. */
export function openConnection(url, from) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: from });
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
export async function sendRaw(url, bytes, { from, timeoutMs = 3_000 } = {}) {
  const socket = await openConnection(url, from);
  if (socket === null) return "";
  return new Promise((resolve) => {
    const chunks = [];
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
