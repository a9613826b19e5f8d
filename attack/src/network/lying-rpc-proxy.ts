import { text } from "node:stream/consumers";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";

// biome-ignore lint/suspicious/noExplicitAny: A lie is about whatever the method returns.
type AnyJson = any;

/** Given the params and a function that fetches the chain's result: the result or the error to answer with. */
export type Lie = (params: AnyJson[], pass: () => Promise<AnyJson>) => AnyJson;

/**
 * Starts a lying JSON-RPC endpoint in front of the chain.
 *
 * @returns `lies`, by method. `count` returns the number of calls so far.
 */
export async function startLyingRpcProxy(chainUrl: string) {
  const lies = new Map<string, Lie>();
  let calls = 0;
  const { url, close } = await startLocalServer(async (request, response) => {
    try {
      const body = JSON.parse(await text(request));
      const answers = await Promise.all([body].flat().map(answer));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    } catch {
      response.destroy();
    }
  });

  async function answer(call: { id: unknown; method: string; params?: AnyJson[] }): Promise<AnyJson> {
    const { id, method, params = [] } = call;
    calls += 1;
    const lie = lies.get(method);
    const pass = async () => {
      const headers = { "content-type": "application/json" };
      const signal = AbortSignal.timeout(10_000);
      const response = await fetch(chainUrl, { method: "POST", headers, body: JSON.stringify(call), signal });
      return (await response.json()) as AnyJson;
    };
    if (lie === undefined) return pass();
    const told = await lie(params, async () => (await pass()).result);
    return { jsonrpc: "2.0", id, ...(told?.error === undefined ? { result: told } : told) };
  }

  return { url, lies, count: () => calls, close };
}
