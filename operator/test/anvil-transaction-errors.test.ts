import { type Hex, keccak256, parseGwei } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChainClient } from "../src/rpc/client.js";
import { connectEndpoint } from "../src/rpc/endpoint.js";
import { classifyNodeError } from "../src/rpc/node-errors.js";
import type { RpcError } from "../src/rpc/rpc-error.js";
import { submitRaw } from "../src/transactions/submitter.js";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";

let chain: Chain;
const account = privateKeyToAccount(generatePrivateKey());

beforeAll(async () => {
  chain = await startChain();
  await chain.fund(account.address);
  await chain.client.setAutomine(false);
  await chain.client.setIntervalMining({ interval: 0 });
});

afterAll(async () => chain?.close());

function sign(nonce: number, gwei: bigint, from = account): Promise<Hex> {
  const fees = { maxFeePerGas: gwei * parseGwei("1"), maxPriorityFeePerGas: gwei * parseGwei("1") };
  return from.signTransaction({ chainId: 42, to: OTHER_ACCOUNT, gas: 21_000n, nonce, ...fees });
}

/** Returns the error that the node answers to a transaction; null when it accepts it. */
async function send(nonce: number, gwei: bigint, from = account): Promise<string | null> {
  const rpc = connectEndpoint(42, chain.url, 2_000);
  return rpc.request("eth_sendRawTransaction", [await sign(nonce, gwei, from)]).then(
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

test("a transaction that was mined before it is submitted again counts as accepted, and another with its nonce does not", async () => {
  const client = createChainClient(42, connectEndpoint(42, chain.url, 2_000));
  const submit = (raw: Hex) => submitRaw(client, raw, keccak256(raw));
  const raw = await sign(1, 10n);
  expect(await submit(raw)).toEqual({ kind: "accepted" });
  expect(await submit(raw)).toEqual({ kind: "accepted" });
  await chain.client.mine({ blocks: 1 });
  expect(await submit(raw)).toEqual({ kind: "accepted" });
  expect(await submit(await sign(1, 12n))).toMatchObject({ kind: "rejected", why: "nonce_too_low" });
});
