import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a proxy between an operator and its RPC endpoint. While it is cut, it answers every call with 502. */
export async function startFailingRpcProxy(
  chain: string,
): Promise<{ url: string; server: Server; cut: (isCut: boolean) => void }> {
  let isCut = false;
  const server = createServer((incoming, answer) => {
    if (isCut) return answer.writeHead(502).end();
    const { method, headers } = incoming;
    const forwarded = request(chain, { method: method ?? "POST", headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(answer);
    });
    forwarded.on("error", () => answer.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cut = (next: boolean) => {
    isCut = next;
  };
  return { url, server, cut };
}
