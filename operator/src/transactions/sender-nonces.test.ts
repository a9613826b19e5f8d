import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { type Hex, keccak256, numberToHex, parseTransaction } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeEach, describe, expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { SenderNonces } from "./sender-nonces.js";

const ACCOUNT = privateKeyToAccount(generatePrivateKey());
const SENDER = ACCOUNT.address;
const TO = "0x1111111111111111111111111111111111111111";
const MAX_JUMP = 16;
const TEN_MINUTES_MS = 600_000;

/** Returns a signed transaction, as nodes show it. */
async function shown(nonce: number, type: "legacy" | "eip1559" = "eip1559", from: PrivateKeyAccount = ACCOUNT) {
  const content = { chainId: 42, nonce, to: TO, data: "0x01", gas: 30_000n, value: 0n } as const;
  const raw = await from.signTransaction(
    type === "legacy"
      ? { ...content, type, gasPrice: 9n }
      : { ...content, type, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n },
  );
  const {
    r = "0x",
    s = "0x",
    v = 0n,
    yParity = 0,
  } = parseTransaction(raw) as unknown as Partial<Record<"r" | "s", Hex>> & {
    v?: bigint;
    yParity?: number;
  };
  const fees =
    type === "legacy" ? { gasPrice: "0x9" } : { maxFeePerGas: "0x9", maxPriorityFeePerGas: "0x1", gasPrice: "0x9" };
  const numbers = { nonce: numberToHex(nonce), gas: "0x7530", value: "0x0", chainId: "0x2a" };
  const signature =
    type === "legacy" ? { r, s, v: numberToHex(v) } : { r, s, v: numberToHex(yParity), yParity: numberToHex(yParity) };
  const about = { from: SENDER, to: TO, input: "0x01", type: type === "legacy" ? "0x0" : "0x2", hash: keccak256(raw) };
  return { raw, listed: { ...about, ...numbers, ...fees, ...signature, ...(type !== "legacy" && { accessList: [] }) } };
}

/** The counts that each endpoint shows; the first answers reads. */
let endpoints: { mined: number; pending: number }[];
let nowMs: number;
/** What the pool lists, by the nonces under which it does. */
let pool: Record<string, object>;
let nonces: SenderNonces;

beforeEach(async () => {
  pool = { 5: (await shown(5)).listed };
  endpoints = [{ mined: 5, pending: 7 }];
  nowMs = 0;
  const countOf = (index: number, params: readonly unknown[]) => {
    const { mined, pending } = endpoints[index] ?? { mined: 0, pending: 0 };
    return numberToHex(params.includes("pending") ? pending : mined);
  };
  const client = createChainClient(42, {
    request: async (method, params) =>
      method === "txpool_contentFrom" ? { pending: pool, queued: {} } : countOf(0, params),
    requestEach: async (_, params) => endpoints.map((_one, index) => countOf(index, params)),
  });
  nonces = new SenderNonces(
    client,
    SENDER,
    { clock: clockOf(() => nowMs), logger: pino({ level: "silent" }) },
    { maxPending: MAX_JUMP, pollMs: 50 },
  );
});

/** @param start By default there is nothing that a reorganization can free. */
const readCounts = (end: number, start = Number.POSITIVE_INFINITY) => nonces.readCounts(end, start);

test("the counts of mined and pending transactions are read, and no fewer are pending than mined", async () => {
  expect(await readCounts(0)).toEqual({ mined: 5, pending: 7 });
  endpoints = [{ mined: 9, pending: 8 }];
  expect(await readCounts(9)).toEqual({ mined: 9, pending: 9 });
});

test.each([
  ["50 mined transactions too many", { mined: 55, pending: 57 }],
  ["1,000 pending transactions too many", { mined: 5, pending: 1_007 }],
  ["2^40 pending transactions", { mined: 5, pending: 2 ** 40 }],
])("%s are not believed, unless another endpoint shows fewer", async (_, lie) => {
  await readCounts(7);
  endpoints = [lie];
  await expect(readCounts(7)).rejects.toMatchObject({ kind: "failed", method: "eth_getTransactionCount" });
  endpoints = [lie, { mined: 6, pending: 7 }];
  expect(await readCounts(7)).toMatchObject({ pending: 7 });
});

describe("an endpoint that is asked first and counts too few", () => {
  const truth = { mined: 5_000, pending: 5_001 };

  test.each([
    ["none, from the start, against two others", false, [{ mined: 0, pending: 0 }, truth, truth]],
    ["none, against two others", true, [{ mined: 0, pending: 0 }, truth, truth]],
    ["one less, against two others", true, [{ mined: 4_999, pending: 5_000 }, truth, truth]],
    ["one less, against another", true, [{ mined: 4_999, pending: 5_000 }, truth]],
  ])("%s, is not believed", async (_, isLate, shownCounts) => {
    if (isLate) endpoints = [truth];
    if (isLate) await readCounts(5_001);
    endpoints = shownCounts;
    expect(await readCounts(isLate ? 5_001 : 0)).toEqual(truth);
  });

  test("alone is believed as far as a reorganization reaches, and farther after ten minutes", async () => {
    endpoints = [truth];
    await readCounts(5_001);
    endpoints = [{ mined: 4_998, pending: 5_001 }];
    expect(await readCounts(5_001)).toEqual({ mined: 4_998, pending: 5_001 });
    const freed = { mined: 4_950, pending: 4_950 };
    endpoints = [freed];
    await expect(readCounts(5_001)).rejects.toMatchObject({ method: "eth_getTransactionCount" });
    expect(await readCounts(5_001, 4_950)).toEqual(freed);
    endpoints = [{ mined: 0, pending: 0 }];
    await expect(readCounts(5_001, 4_950)).rejects.toMatchObject({ method: "eth_getTransactionCount" });
    nowMs += TEN_MINUTES_MS;
    expect(await readCounts(5_001)).toMatchObject({ mined: 0 });
  });

  test("is believed once most others count no more, because the chain was reorganized", async () => {
    endpoints = [truth];
    await readCounts(5_001);
    const reorganized = { mined: 4_999, pending: 5_001 };
    endpoints = [reorganized, truth, reorganized];
    expect(await readCounts(5_001)).toEqual(reorganized);
  });
});

test("as many as other processes can have sent are believed, and a jump of mined ones after ten minutes", async () => {
  await readCounts(7);
  endpoints = [{ mined: 7 + MAX_JUMP, pending: 7 + MAX_JUMP }];
  expect(await readCounts(7)).toMatchObject({ mined: 7 + MAX_JUMP });
  endpoints = [{ mined: 500, pending: 500 }];
  await expect(readCounts(7)).rejects.toThrow();
  nowMs += TEN_MINUTES_MS - 1;
  await expect(readCounts(7)).rejects.toThrow();
  nowMs += 1;
  expect(await readCounts(7)).toMatchObject({ mined: 500 });
});

test("a pending transaction that the node's pool does not show counts as stuck ten minutes later than others", async () => {
  expect(await nonces.findForeign(await readCounts(5), () => false)).toMatchObject([{ nonce: 5 }]);
  expect(nonces.stuckSince).toEqual(
    new Map([
      [5, 0],
      [6, TEN_MINUTES_MS],
    ]),
  );
});

test.each(["legacy", "eip1559"] as const)(
  "a pending %s transaction is recovered as it was signed, and its hash is what was signed, whatever the node says",
  async (type) => {
    const { raw, listed } = await shown(5, type);
    pool = { 5: { ...listed, hash: keccak256("0x") } };
    const [found] = await nonces.findForeign(await readCounts(5), () => false);
    expect(found).toMatchObject({ nonce: 5, raw, hash: keccak256(raw), call: { to: TO, data: "0x01", gas: 30_000n } });
    expect(found?.fees).toMatchObject({ type, maxFeePerGas: 9n });
  },
);

test("what the sender has not signed is not its transaction, however high its fees and its nonce are", async () => {
  const other = privateKeyToAccount(generatePrivateKey());
  const own = (await shown(7)).listed;
  const far = 5_000_000;
  pool = {
    5: { ...(await shown(5)).listed, maxFeePerGas: numberToHex(10n ** 15n) },
    6: (await shown(6, "eip1559", other)).listed,
    // Listed under another nonce than its own, and signed by the sender, but with a nonce that nothing leads to.
    8: (await shown(far)).listed,
    [far]: (await shown(far)).listed,
    [2 ** 53 - 1]: { ...own, nonce: numberToHex(2 ** 53 - 1) },
    7: own,
  };
  const found = await nonces.findForeign(await readCounts(5), () => false);
  expect(found.map(({ nonce }) => nonce)).toEqual([7]);
  // The node counts them as pending, so they are waited for; longer, because its pool shows nothing of the sender there.
  expect(nonces.stuckSince).toEqual(
    new Map([
      [5, TEN_MINUTES_MS],
      [6, TEN_MINUTES_MS],
    ]),
  );
});

test("behind a gap, no more nonces are looked for one by one than nodes keep, however many may be pending", async () => {
  const asked: number[] = [];
  const client = createChainClient(42, {
    request: async (method, [, value]) => {
      if (method !== "eth_getTransactionBySenderAndNonce")
        throw new RpcError("refused", 42, method, "-32601: not supported", null, "not_offered");
      asked.push(Number(value));
      return null;
    },
  });
  const wide = new SenderNonces(
    client,
    SENDER,
    { clock: SYSTEM_CLOCK, logger: pino({ level: "silent" }) },
    { maxPending: 10_000, pollMs: 50 },
  );
  await wide.findForeign({ mined: 5, pending: 5 }, () => false);
  expect(asked.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, index) => 5 + index));
});
