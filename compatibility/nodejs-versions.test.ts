import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";
import { freePortOptions, startDevnet } from "../devnet/test/devnet-process.js";
import { NODES } from "./nodes.js";

const versions = NODES.map((path) => ({
  path,
  version: execFileSync(path, ["--version"], { encoding: "utf8" }).trim(),
}));

test.each(versions)("on Node $version the services start and an update is mined", async ({ path }) => {
  const ports = await freePortOptions();
  const devnet = await startDevnet([...ports, "--no-feeds"], [path, join(ROOT, "devnet/dist/main.js")]);
  try {
    const response = await fetch(`${devnet.operator.url}/data/request`, {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "wait=20" },
      body: JSON.stringify({ network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: true }),
      signal: AbortSignal.timeout(30_000),
    });
    const answer = (await response.json()) as { transaction_hash: string };
    expect([response.status, answer]).toEqual([200, expect.objectContaining({ status: "OK" })]);
    const receipt = await fetch(devnet.chain, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1 },
        ...{ method: "eth_getTransactionReceipt", params: [answer.transaction_hash] },
      }),
      signal: AbortSignal.timeout(5_000),
    });
    expect(await receipt.json()).toMatchObject({ result: { status: "0x1" } });
  } finally {
    expect(await devnet.interrupt()).toBe(0);
  }
});
