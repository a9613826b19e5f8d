import { encodeErrorResult, parseAbi } from "viem";
import { expect, test } from "vitest";
import { StubRpcs } from "../../test/support/stub-rpcs.js";
import { readView } from "./dataset-views.js";

test("a contract's revert data does not make the client fetch a URL that it names", async () => {
  const dataset = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
  const rpcs = new StubRpcs();
  const node = await rpcs.start();
  const client = await rpcs.connect(node);
  const data = encodeErrorResult({
    abi: parseAbi(["error OffchainLookup(address sender, string[] urls, bytes data, bytes4 callback, bytes extra)"]),
    args: [dataset, [node.url], "0x", "0x00000000", "0x"],
  });
  Object.assign(node, { answer: { error: { code: 3, message: "execution reverted", data } }, asked: [] });
  await expect(readView(client, dataset, "queryPrice")).rejects.toMatchObject({ kind: "refused", data });
  expect(node.asked.filter((method) => method !== "eth_getBlockByNumber")).toEqual(["eth_call"]);
  await rpcs.close();
});
