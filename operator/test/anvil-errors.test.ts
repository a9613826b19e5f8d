import { parseGwei } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectEndpoint } from "../src/chain/endpoint.js";
import { classifyNodeError } from "../src/chain/node-errors.js";
import type { RpcError } from "../src/chain/rpc-error.js";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";

let chain: Chain;
const account = privateKeyToAccount(generatePrivateKey());

beforeAll(async () => {
  chain = await startChain();
  await chain.fund(account.address);
  await chain.client.setAutomine(false);
});

afterAll(async () => chain?.close());

/** Returns the error that the node answers to a transaction; null when it accepts it. */
async function send(nonce: number, gwei: bigint, from = account): Promise<string | null> {
  const fees = { maxFeePerGas: gwei * parseGwei("1"), maxPriorityFeePerGas: gwei * parseGwei("1") };
  const raw = await from.signTransaction({ chainId: 42, to: OTHER_ACCOUNT, gas: 21_000n, nonce, ...fees });
  const rpc = connectEndpoint(42, chain.url, 2_000);
  return rpc.request("eth_sendRawTransaction", [raw]).then(
    () => null,
    (error: RpcError) => error.reason,
  );
}

test("anvil's own messages are classified", async () => {
  expect(await send(0, 10n)).toBeNull();
  const seen = {
    again: await send(0, 10n),
    cheaper: await send(0, 9n),
    poor: await send(0, 10n, privateKeyToAccount(generatePrivateKey())),
    used: await chain.client.mine({ blocks: 1 }).then(() => send(0, 11n)),
  };
  expect(Object.fromEntries(Object.entries(seen).map(([of, reason]) => [of, classifyNodeError(reason ?? "")]))).toEqual(
    {
      again: "already_known",
      cheaper: "replacement_underpriced",
      poor: "insufficient_funds",
      used: "nonce_too_low",
    },
  );
});
