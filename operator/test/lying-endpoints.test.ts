import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import {
  type Address,
  type Hex,
  keccak256,
  numberToHex,
  parseEther,
  parseGwei,
  parseTransaction,
  stringToHex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, describe, expect, test } from "vitest";
import { error } from "./rpc-behaviours/behaviour.js";
import { startCommittee, WAIT } from "./support/committee.js";
import type { OperatorOptions, RunningOperator } from "./support/operator.js";
import { type RpcCall, type RpcReply, startRpcProxy } from "./support/rpc-proxy.js";
import { signedUpdate } from "./support/signed-update.js";

/** Operators behind a gateway to a real chain, which lies. */

const KEY = "SPOTPX/ETH-USD";
const STUCK_MS = 60_000;
const DOUBTFUL_MS = 600_000;

const { chain, providers, members, dataset: committeeDataset, body, start } = await startCommittee(4);
const proxy = await startRpcProxy(chain.url);
/** How much time has passed for the operator beside the real time. */
let passedMs = 0;
const clock = { now: () => Date.now(), monotonic: () => performance.now() + passedMs };
let operator: RunningOperator;

afterEach(async () => {
  proxy.script = () => null;
  await operator.close();
});

const startBehindProxy = async (
  settings: Parameters<typeof start>[0],
  options: OperatorOptions,
  dataset?: Address,
): Promise<RunningOperator> => {
  const datasets = dataset === undefined ? {} : { datasets: [dataset] };
  operator = await start(settings, { clock, ...options }, { rpcUrls: [proxy.url], ...datasets });
  return operator;
};

describe("an endpoint that overstates gas for six seconds", () => {
  /** More than chains of EIP-7825 let a transaction have, as this one does not. */
  const CAP = 1n << 24n;
  const MORE_THAN_CAP = 20_000_000;
  const MORE_THAN_A_BLOCK = 1_000_000_000;
  const REFUSED = error(-32000, `transaction gas limit too high (cap: ${CAP}, tx: 25000000)`);

  test.each([
    ["by more than a block has", MORE_THAN_A_BLOCK, "takes them", 0],
    ["by more than a transaction may have, whose node refuses them", MORE_THAN_CAP, "refuses them", 0],
    ["by more than a transaction may have, whose node never mines them", MORE_THAN_CAP, "takes them", STUCK_MS],
  ] as const)("%s does not stop the sender", async (_, gas, node, afterMs) => {
    let isLying = false;
    const submitted: bigint[] = [];
    const answer = ({ method, params }: RpcCall): RpcReply | null => {
      // Otherwise the operator could do without estimates.
      if (method === "eth_simulateV1") return { body: { error: { code: -32601, message: "not supported" } } };
      if (method === "eth_estimateGas" && isLying) return { body: { result: numberToHex(gas) } };
      if (method !== "eth_sendRawTransaction") return null;
      const raw = params[0] as Hex;
      const { gas: limit = 0n } = parseTransaction(raw);
      submitted.push(limit);
      if (limit <= CAP) return null;
      return node === "takes them"
        ? { body: { result: keccak256(raw) } }
        : REFUSED.reply({ method, params, isReused: false }, 0);
    };
    proxy.script = answer;
    for (const provider of providers) provider.value = parseEther("2000");
    const dataset = await chain.deploy(members);
    const feed = { dataset, keys: [KEY], heartbeatSeconds: 31_536_000, deviationBps: 100, minIntervalSeconds: 1 };
    const { account, post } = await startBehindProxy(
      { feeds: [feed], feedPollMs: 300, stuckSeconds: STUCK_MS / 1_000, gasPerHourForNewKeys: 10_000_000_000 },
      { plugins: ["feeds"] },
      dataset,
    );
    const stored = async () => (await chain.query(dataset, KEY)).value;
    await expect.poll(stored).toBe(parseEther("2000"));

    isLying = true;
    const estimates = () => proxy.calls.filter(({ method }) => method === "eth_estimateGas").length;
    const before = estimates();
    for (const provider of providers) provider.value = parseEther("2100");
    await expect.poll(estimates).toBeGreaterThan(before);
    for (let i = 0; i < 8; i++) {
      passedMs += 750;
      await post({ ...body(`SPOTPX/K${i}-USD`), dataset });
    }
    isLying = false;
    const nonce = await chain.nonce(account.address);
    passedMs += 5_000 + afterMs;
    await expect.poll(stored).toBe(parseEther("2100"));
    expect(await chain.nonce(account.address)).toBeGreaterThan(nonce);
    await operator.ask({ ...body("SPOTPX/AFTER-USD"), dataset }, WAIT);
    const { gasLimit } = await chain.client.getBlock();
    expect(submitted.filter((limit) => limit > gasLimit)).toEqual([]);
  });
});

describe("a pending transaction of the sender that a pool invents, with fees above the cap,", () => {
  /** The call is an update that could be recovered. */
  async function invent(sender: Address, nonce: number): Promise<object> {
    const round = BigInt(Math.floor(Date.now() / 1_000) - 2);
    const packed = await signedUpdate(committeeDataset, stringToHex(KEY), round, providers);
    const fee = numberToHex(parseGwei("1000"));
    return {
      ...{
        from: sender,
        to: committeeDataset,
        input: encodeUpdateCall(packed),
        nonce: numberToHex(nonce),
        value: "0x0",
      },
      ...{ gas: numberToHex(300_000), gasPrice: fee, maxFeePerGas: fee, maxPriorityFeePerGas: fee, chainId: "0x2a" },
      ...{ type: "0x2", accessList: [], hash: keccak256("0x01"), r: keccak256("0x02"), s: numberToHex(7), v: "0x0" },
      ...{ yParity: "0x0", blockHash: null, blockNumber: null, transactionIndex: null },
    };
  }

  /** Starts an operator whose endpoint always shows it at the sender's next nonce. */
  async function startWithInvention(isCounted: boolean): Promise<RunningOperator> {
    const account = privateKeyToAccount(generatePrivateKey());
    const invented = await invent(account.address, 0);
    proxy.script = ({ method, params }) => {
      if (method === "txpool_contentFrom") return { body: { result: { pending: { 0: invented }, queued: {} } } };
      const isPendingCount = method === "eth_getTransactionCount" && params.includes("pending");
      if (isCounted && isPendingCount) return { change: (count: Hex) => numberToHex(Math.max(1, Number(count))) };
      return null;
    };
    return startBehindProxy({ stuckSeconds: STUCK_MS / 1_000 }, { account, plugins: [] });
  }

  test("is not believed: a new update is mined", async () => {
    const { ask, account } = await startWithInvention(false);
    const { transaction_hash } = await ask(body(KEY), WAIT);
    expect(await chain.client.getTransaction({ hash: transaction_hash as Hex })).toMatchObject({ nonce: 0 });
    expect(await chain.nonce(account.address)).toBe(1);
  });

  test("and the count of pending ones includes, is waited for ten minutes; then its nonce is used, and updates are mined", async () => {
    const { ask, account } = await startWithInvention(true);
    // A key of its own: what the test before has stored may be of the same round.
    const { transaction_hash } = await ask(body("SPOTPX/BTC-USD"));
    expect(await chain.client.getTransaction({ hash: transaction_hash as Hex })).toMatchObject({ nonce: 1 });
    passedMs += DOUBTFUL_MS + STUCK_MS;
    await chain.wait(transaction_hash as Hex);
    expect(await chain.nonce(account.address)).toBe(2);
  });
});
