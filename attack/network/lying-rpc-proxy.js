import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/**
 * Starts a lying JSON-RPC endpoint in front of the chain.
 *
 * @returns `lies`, by method: each is given the params and a function that fetches the chain's result, and returns the
 *   result or the error to answer with. `count` returns the number of calls so far.
 */
export async function startLyingRpcProxy(chainUrl) {
  const lies = new Map();
  let calls = 0;
  const server = createServer(async (request, response) => {
    try {
      const body = JSON.parse(await text(request));
      const answers = await Promise.all([body].flat().map(answer));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    } catch {
      response.destroy();
    }
  });

  async function answer(call) {
    const { id, method, params = [] } = call;
    calls += 1;
    const lie = lies.get(method);
    const pass = async () => {
      const headers = { "content-type": "application/json" };
      const signal = AbortSignal.timeout(10_000);
      return (await fetch(chainUrl, { method: "POST", headers, body: JSON.stringify(call), signal })).json();
    };
    if (lie === undefined) return pass();
    const told = await lie(params, async () => (await pass()).result);
    return { jsonrpc: "2.0", id, ...(told?.error === undefined ? { result: told } : told) };
  }

  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    lies,
    count: () => calls,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
