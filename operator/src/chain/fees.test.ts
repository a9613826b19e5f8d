import { numberToHex } from "viem";
import { expect, test } from "vitest";
import { readFees } from "./fees.js";
import { type Rpc, RpcError } from "./rpc.js";

/** A node that answers from a table; null refuses the method. */
function node(answers: Record<string, unknown>): Rpc {
  return {
    chainId: 42,
    async request(method) {
      if (answers[method] === null) throw new RpcError("refused", 42, method, "-32601: not supported");
      return answers[method];
    },
  };
}

const CAP = 2_000_000_000n;
const BLOCK = { baseFeePerGas: numberToHex(100n) };

test("offers twice the base fee and the suggested tip", async () => {
  const rpc = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0x7" });
  expect(await readFees(rpc, CAP)).toEqual({ type: "eip1559", maxFeePerGas: 207n, maxPriorityFeePerGas: 7n });
});

test("offers one gwei where no tip is suggested", async () => {
  const rpc = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: null });
  expect(await readFees(rpc, CAP)).toMatchObject({ maxPriorityFeePerGas: 1_000_000_000n });
});

test("offers the gas price on a chain without a base fee", async () => {
  const rpc = node({ eth_getBlockByNumber: {}, eth_gasPrice: "0x9" });
  expect(await readFees(rpc, CAP)).toEqual({ type: "legacy", gasPrice: 9n });
});

test("offers no more than the cap, of which the tip is a part", async () => {
  const rpc = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0xffffffffff" });
  expect(await readFees(rpc, CAP)).toEqual({ type: "eip1559", maxFeePerGas: CAP, maxPriorityFeePerGas: CAP });
  const cheap = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0x7" });
  expect(await readFees(cheap, 100n)).toEqual({ type: "eip1559", maxFeePerGas: 100n, maxPriorityFeePerGas: 7n });
});

test.each([
  ["a base fee", { eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0x7" }],
  ["a gas price", { eth_getBlockByNumber: {}, eth_gasPrice: "0x64" }],
])("%s above the cap is a problem", async (_, answers) => {
  await expect(readFees(node(answers), 99n)).rejects.toMatchObject({ status: 503, code: "fees_too_high" });
});
