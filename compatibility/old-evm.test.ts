import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { call } from "viem/actions";
import { expect, test } from "vitest";
import { createChainClient } from "../operator/src/rpc/client.js";
import { connectEndpoint } from "../operator/src/rpc/endpoint.js";
import { classifyNodeError } from "../operator/src/rpc/node-errors.js";
import { rpcErrorIn } from "../operator/src/rpc/rpc-error.js";
import { startChain } from "../operator/test/support/chain.js";
import { startOperator } from "../operator/test/support/operator.js";
import { startProviders } from "../operator/test/support/stub-providers.js";

/** Init code with PUSH0 and Cancun's instructions. */
const INIT_CODE = "0x5f5f5d5f5c505f5f5f5e5f5ff3";

test.each(["london", "shanghai"])("anvil with the %s EVM says that an instruction is missing", async (hardfork) => {
  const anvil = await startAnvil({ hardfork });
  try {
    const client = createChainClient(42, connectEndpoint(42, anvil.url, 5_000));
    const error = await call(client, { data: INIT_CODE }).catch((reason: unknown) => rpcErrorIn(reason));
    expect(error).toMatchObject({ kind: "refused", reason: expect.any(String) });
    expect(classifyNodeError((error as { reason: string }).reason)).toBe("invalid_opcode");
  } finally {
    await anvil.close();
  }
});

test("an operator on a chain with an old EVM updates all the same", async () => {
  const [chain, providers] = await Promise.all([startChain(42, "shanghai"), startProviders(4)]);
  try {
    const dataset = await chain.deploy(providers.map(({ address }) => address));
    const keys = ["SPOTPX/ETH-USD", "SPOTPX/BTC-USD"];
    const feed = { dataset, keys, heartbeatSeconds: 4, deviationBps: 100, minIntervalSeconds: 1 };
    const settings = { feeds: [feed], feedPollMs: 200 };
    const operator = await startOperator([{ chain, datasets: [dataset], providers, settings }]);
    try {
      const updates = () => chain.updates(dataset);
      await expect.poll(async () => (await updates()).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(keys.length);
    } finally {
      await operator.close();
    }
  } finally {
    await Promise.all([chain.close(), ...providers.map((provider) => provider.close())]);
  }
});
