import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Certificate } from "@dataset-oracle/tools/certificates";
import type { Address, Hex, LocalAccount, TransactionSerializable } from "viem";
import { closeAtEnd } from "./close-at-end.js";

/** The parameter of `eth_signTransaction`. */
type Parameters = Record<string, Hex> & { readonly from: Address };

interface Call {
  readonly method: string;
  readonly params: readonly Parameters[];
}

type Fault = (request: IncomingMessage, response: ServerResponse) => void;

export type StubSigner = Awaited<ReturnType<typeof startStubSigner>>;

/**
 * Starts a signer of one account in the form that Web3Signer documents: JSON-RPC over HTTP, `eth_accounts` and
 * `eth_signTransaction`, whose result is the signed transaction. It ends with the test file.
 *
 * @param chainId The chain that it signs for, whatever a request says.
 */
export async function startStubSigner(account: LocalAccount, chainId: number, certificate?: Certificate, port = 0) {
  const calls: Call[] = [];
  const signer = {
    calls,
    listed: [account.address] as readonly string[],
    /** Answers in place of the signer. */
    fault: null as Fault | null,
    /** Changes what is signed. */
    change: (transaction: TransactionSerializable): TransactionSerializable => transaction,
    /** Signs. */
    account,
    /** Makes the result of a signed transaction. */
    wrap: async (signed: Hex): Promise<unknown> => signed,
  };

  async function answer({ method, params }: Call) {
    calls.push({ method, params });
    if (method === "eth_accounts") return { result: signer.listed };
    const [transaction] = params;
    if (method !== "eth_signTransaction" || transaction === undefined) {
      return { error: { code: -32601, message: "Method not found" } };
    }
    if (transaction.from.toLowerCase() !== account.address.toLowerCase()) {
      return { error: { code: -32000, message: "From address does not match available account" } };
    }
    const asked = signer.change(toTransaction(transaction, chainId));
    return { result: await signer.wrap(await signer.account.signTransaction(asked)) };
  }

  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const call = (await json(request)) as Call & { id: number };
    if (signer.fault !== null) return signer.fault(request, response);
    const answered = await answer(call);
    response.writeHead("error" in answered ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: call.id, ...answered }));
  };
  const server = certificate === undefined ? createServer(listener) : createTlsServer({ ...certificate }, listener);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  return Object.assign(signer, {
    port: bound,
    url: `http://127.0.0.1:${bound}/`,
    close: closeAtEnd(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }),
  });
}

function toTransaction(parameters: Parameters, chainId: number): TransactionSerializable {
  const { to = "0x", data = "0x", nonce, gas, value, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = parameters;
  const quantity = (amount: Hex | undefined) => BigInt(amount ?? 0);
  const content = { chainId, to, data, nonce: Number(nonce), gas: quantity(gas), value: quantity(value) };
  if (gasPrice !== undefined) return { ...content, type: "legacy", gasPrice: quantity(gasPrice) };
  const fees = { maxFeePerGas: quantity(maxFeePerGas), maxPriorityFeePerGas: quantity(maxPriorityFeePerGas) };
  return { ...content, type: "eip1559", ...fees };
}
