import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { call } from "viem/actions";
import { expect, onTestFinished, test } from "vitest";
import { createChainClient } from "../operator/src/rpc/client.js";
import { connectEndpoint } from "../operator/src/rpc/endpoint.js";
import { classifyNodeError } from "../operator/src/rpc/node-errors.js";
import { rpcErrorIn } from "../operator/src/rpc/rpc-error.js";

/** Init code with PUSH0 and Cancun's instructions. */
const INIT_CODE = "0x5f5f5d5f5c505f5f5f5e5f5ff3";

test.each(["london", "shanghai"])("anvil with the %s EVM says that an instruction is missing", async (hardfork) => {
  const anvil = await startAnvil({ hardfork });
  onTestFinished(() => anvil.close());
  const context = { clock: SYSTEM_CLOCK, closing: new AbortController().signal, dispatcher: TRUSTED_CONNECTIONS };
  const client = createChainClient(42, connectEndpoint(42, anvil.url, 5_000, context));
  const error = await call(client, { data: INIT_CODE }).catch((reason: unknown) => rpcErrorIn(reason));
  expect(error).toMatchObject({ kind: "refused", reason: expect.any(String) });
  expect(classifyNodeError((error as { reason: string }).reason)).toBe("invalid_opcode");
});
