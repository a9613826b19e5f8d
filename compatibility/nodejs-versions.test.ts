import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { createPublicClient, http } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { freePortOptions, startDevnet } from "../devnet/test/devnet-process.js";
import { postDataRequest } from "../devnet/test/post-data-request.js";
import { NODES } from "./nodes.js";

test.each(NODES)("with %s the services start and an update is mined", async (node) => {
  const ports = await freePortOptions();
  const devnet = await startDevnet([...ports, "--no-feeds"], [node, join(ROOT, "devnet/dist/main.js")]);
  onTestFinished(async () => expect(await devnet.interrupt()).toBe(0));
  const request = { network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: true };
  const { answer } = await postDataRequest(devnet, request);
  expect(answer).toMatchObject({ status: "OK" });
  const hash = answer.transaction_hash ?? "0x";
  const client = createPublicClient({ transport: http(devnet.chain) });
  expect(await client.getTransactionReceipt({ hash })).toMatchObject({ status: "success" });
});
