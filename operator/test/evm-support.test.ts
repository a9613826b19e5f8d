import { type Anvil, startAnvil } from "@dataset-oracle/devnet/anvil";
import { afterEach, expect, test } from "vitest";
import { createChainClient } from "../src/rpc/client.js";
import { connectEndpoint } from "../src/rpc/endpoint.js";
import { isInvalidOpcode, readEvmTooOldReason } from "../src/rpc/evm-support.js";
import { RpcError } from "../src/rpc/rpc-error.js";
import { startChain } from "./support/chain.js";
import { startOperator } from "./support/operator.js";
import { startProviders } from "./support/stub-providers.js";

let anvil: Anvil | undefined;

afterEach(() => anvil?.close());

const startClient = async (hardfork: string) => {
  anvil = await startAnvil({ hardfork });
  return createChainClient(42, connectEndpoint(42, anvil.url, 5_000));
};

test.each(["london", "shanghai"])(
  "a chain with the %s EVM lacks instructions, and the node's words say so",
  async (fork) => {
    const reason = await readEvmTooOldReason(await startClient(fork));
    expect(reason).not.toBeNull();
    expect(isInvalidOpcode(reason ?? "")).toBe(true);
  },
);

test.each(["cancun", "prague"])("a chain with the %s EVM has all instructions", async (fork) => {
  expect(await readEvmTooOldReason(await startClient(fork))).toBeNull();
});

test("an operator on a chain with an old EVM warns when it starts, and updates all the same", async () => {
  const [chain, providers] = await Promise.all([startChain(42, "shanghai"), startProviders(4)]);
  try {
    const dataset = await chain.deploy(providers.map(({ address }) => address));
    const keys = ["SPOTPX/ETH-USD", "SPOTPX/BTC-USD"];
    const feed = { dataset, keys, heartbeatSeconds: 4, deviationBps: 100, minIntervalSeconds: 1 };
    const settings = { feeds: [feed], feedPollMs: 200 };
    const operator = await startOperator([{ chain, datasets: [dataset], providers, settings }]);
    try {
      expect(operator.log.join()).toContain("the chain's EVM is older than Cancun");
      const updates = () => chain.updates(dataset);
      await expect.poll(async () => (await updates()).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(keys.length);
    } finally {
      await operator.close();
    }
  } finally {
    await Promise.all([chain.close(), ...providers.map((provider) => provider.close())]);
  }
});

test("a node that refuses every call without an address tells nothing", async () => {
  const request = async () => {
    throw new RpcError("refused", 42, "eth_call", "missing to");
  };
  expect(await readEvmTooOldReason(createChainClient(42, { request }))).toBeNull();
});

test.each([
  "VM Exception while processing transaction: invalid opcode",
  "invalid opcode: MCOPY",
  "EVM error NotActivated",
  "EVM error: OpcodeNotFound",
  "BadInstruction",
  "INVALID_OPERATION",
])("%s means that an instruction is missing", (reason) => {
  expect(isInvalidOpcode(reason)).toBe(true);
  expect(isInvalidOpcode("execution reverted")).toBe(false);
});
