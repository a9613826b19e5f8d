import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { packUpdate } from "@dataset-oracle/protocol/packed-update";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { type Address, type EIP1193Provider, encodeEventTopics, type Hex, keccak256, numberToHex, pad } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Sending, sendFromWallet } from "./send-from-wallet.js";

const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const OWN: Address = "0x00000000000000000000000000000000000000aA";
const HASH: Hex = `0x${"12".repeat(32)}`;
const DATA = encodeUpdateCall(
  packUpdate({
    ...{ kind: "update", key: "0x01", round: 0n, toleranceBps: 0n, outcome: "OK", value: HASH },
    members: [{ value: HASH, r: HASH, vs: HASH }],
  }),
);
const TRANSACTION = { chainId: 42, to: DATASET, data: DATA, value: 0n, gas: 100_000n } as const;

/** What the wallet answers to each method; an error that it throws. */
let answers: Record<string, unknown>;
let asked: string[];
/** The first block in which it has looked for its update. */
let searchedFrom: Hex | undefined;
/** What changes when the wallet is asked. */
let onAsked: (method: string) => void;

const topicsOf = (key: Hex) =>
  encodeEventTopics({ abi: datasetAbi, eventName: "Updated", args: { keyHash: keccak256(key) } });
const UPDATED = {
  ...{ address: DATASET, blockNumber: "0x7", blockHash: HASH, transactionHash: HASH, transactionIndex: "0x0" },
  ...{ logIndex: "0x0", removed: false, data: `0x${"00".repeat(96)}` },
  topics: topicsOf("0x01"),
};
const receipt = (change: object = {}) => ({
  ...{ transactionHash: HASH, blockHash: HASH, blockNumber: "0x7", transactionIndex: "0x0", from: OWN, to: DATASET },
  ...{ gasUsed: "0x1", cumulativeGasUsed: "0x1", effectiveGasPrice: "0x1", type: "0x2" },
  ...{ status: "0x1", logs: [UPDATED] },
  ...change,
});
const refusal = (code: number, more: object = {}) => Object.assign(new Error("The wallet says no."), { code, ...more });

afterEach(() => vi.useRealTimers());

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  onAsked = (method) => {
    if (method === "wallet_switchEthereumChain") answers.eth_chainId = "0x2a";
  };
  answers = {
    eth_requestAccounts: [OWN],
    eth_chainId: "0x2a",
    eth_sendTransaction: HASH,
    eth_getTransactionCount: "0x1",
    eth_getLogs: [],
    eth_blockNumber: "0x8",
    eth_getTransactionReceipt: receipt(),
    eth_getTransactionByHash: { hash: HASH, from: OWN, to: DATASET, nonce: "0x1", input: DATA, value: "0x0" },
    wallet_switchEthereumChain: null,
  };
});

async function send(): Promise<Sending[]> {
  const provider = {
    request: async ({ method, params }: { method: string; params?: readonly { fromBlock?: Hex }[] }) => {
      asked.push(method);
      if (method === "eth_getLogs") searchedFrom = params?.[0]?.fromBlock;
      const answer = answers[method];
      onAsked(method);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const steps: Sending[] = [];
  let isOver = false;
  const onStep = (step: Sending) => void steps.push(step);
  const sending = sendFromWallet(provider as unknown as EIP1193Provider, TRANSACTION as never, onStep).finally(() => {
    isOver = true;
  });
  while (!isOver) await vi.advanceTimersByTimeAsync(500);
  await sending;
  return steps;
}

const last = async () => (await send()).at(-1);

test("the update is sent from the wallet's account, and waited for", async () => {
  expect(await send()).toEqual([
    { step: "confirming" },
    { step: "waiting", hash: HASH },
    { step: "mined", hash: HASH, block: 7n },
  ]);
  // viem looks at the chain once more, right before it sends.
  expect(asked.slice(asked.indexOf("eth_sendTransaction") - 1)[0]).toBe("eth_chainId");
});

test("a wallet on another chain is asked to switch first", async () => {
  answers.eth_chainId = numberToHex(1);
  expect((await send()).map(({ step }) => step)).toEqual(["switching", "confirming", "waiting", "mined"]);
  expect(asked.indexOf("wallet_switchEthereumChain")).toBeLessThan(asked.indexOf("eth_sendTransaction"));
});

test.each<[string, string, Error]>([
  ["unknown_chain", "wallet_switchEthereumChain", refusal(4902)],
  ["unknown_chain", "wallet_switchEthereumChain", refusal(-32603, { data: { originalError: { code: 4902 } } })],
  ["rejected", "wallet_switchEthereumChain", refusal(4001)],
  ["rejected", "eth_requestAccounts", refusal(4001)],
  ["failed", "eth_requestAccounts", refusal(-32603)],
  ["busy", "eth_requestAccounts", refusal(-32002)],
  ["no_account", "eth_requestAccounts", refusal(4100)],
  ["rejected", "eth_sendTransaction", refusal(4001)],
  ["no_account", "eth_sendTransaction", refusal(4100)],
])("nothing is sent, and the step is %s, when %s ends with %o", async (step, method, error) => {
  if (method === "wallet_switchEthereumChain") answers.eth_chainId = numberToHex(1);
  answers[method] = error;
  expect(await last()).toMatchObject({ step, message: expect.stringContaining("The wallet says no.") });
  expect(asked.at(-1)).toBe(method);
});

test("the step is failed, with the wallet's own words only, when it neither sent nor says that its owner refused", async () => {
  answers.eth_sendTransaction = refusal(-32603);
  expect(await last()).toEqual({ step: "failed", message: "The wallet says no." });
  answers.eth_sendTransaction = refusal(-32603, { message: "" });
  expect(JSON.stringify(await last())).not.toContain("RPC");
});

test("a wallet that is locked gives no account", async () => {
  answers.eth_requestAccounts = [];
  expect(await last()).toEqual({ step: "no_account" });
});

test("a wallet that switches a while after it said so is waited for, and one that never does is on the wrong chain", async () => {
  answers.eth_chainId = numberToHex(1);
  let looks = 0;
  onAsked = (method) => {
    if (method === "eth_chainId" && asked.includes("wallet_switchEthereumChain") && ++looks === 3)
      answers.eth_chainId = "0x2a";
  };
  expect(await last()).toMatchObject({ step: "mined" });
  answers.eth_chainId = numberToHex(1);
  onAsked = () => {};
  expect(await last()).toEqual({ step: "wrong_chain" });
});

test("a wallet that changes its chain meanwhile sends nothing", async () => {
  onAsked = (method) => {
    if (method === "eth_getTransactionCount") answers.eth_chainId = numberToHex(1);
  };
  expect(await last()).toEqual({ step: "wrong_chain" });
  expect(asked).not.toContain("eth_sendTransaction");
});

test("a transaction that a wallet has sent before it threw is found, and waited for", async () => {
  answers.eth_sendTransaction = refusal(-32603);
  onAsked = (method) => {
    if (method === "eth_sendTransaction") answers.eth_getTransactionCount = "0x2";
    if (method === "eth_getLogs") answers.eth_getLogs = [UPDATED, { ...UPDATED, blockNumber: "0x9" }];
  };
  const steps = await send();
  expect(steps.slice(-2)).toEqual([{ step: "waiting" }, { step: "mined", hash: HASH, block: 7n }]);
});

test("a wallet that is busy when it is asked to send may have sent, and an update of the block before is another", async () => {
  answers.eth_sendTransaction = refusal(-32002);
  expect(await last()).toMatchObject({ step: "busy" });
  onAsked = (method) => {
    if (method === "eth_sendTransaction") answers.eth_getTransactionCount = "0x2";
    if (method === "eth_getLogs") answers.eth_getLogs = [UPDATED, { ...UPDATED, blockNumber: "0x9" }];
  };
  expect(await last()).toMatchObject({ step: "mined" });
  expect(searchedFrom).toBe("0x8");
});

test("an update of a block before is not the one that the wallet was asked to send", async () => {
  answers.eth_sendTransaction = refusal(-32603);
  answers.eth_getLogs = [UPDATED];
  onAsked = (method) => {
    if (method === "eth_sendTransaction") answers.eth_getTransactionCount = "0x2";
  };
  expect(await last()).toEqual({ step: "unclear" });
});

test("whether it was sent is unclear where the wallet fails, and then does not answer", async () => {
  answers.eth_sendTransaction = refusal(-32603);
  onAsked = (method) => {
    if (method === "eth_sendTransaction") answers.eth_getTransactionCount = refusal(-32603);
  };
  expect(await last()).toEqual({ step: "unclear" });
});

test("a smart account's update is mined by the entry point's transaction", async () => {
  answers.eth_getTransactionReceipt = receipt({ to: pad("0x1", { size: 20 }) });
  expect(await last()).toEqual({ step: "mined", hash: HASH, block: 7n });
});

test.each<[string, string, object]>([
  ["reverted", "that reverted", { status: "0x0", logs: [] }],
  ["overtaken", "that stored nothing, because another was faster", { logs: [] }],
  ["overtaken", "in which another contract says that it stored something", { logs: [{ ...UPDATED, address: OWN }] }],
  ["unseen", "that the wallet replaced by another one", { to: pad("0x1", { size: 20 }), logs: [] }],
  [
    "unseen",
    "in whose place a bundle updated another key",
    { to: pad("0x1", { size: 20 }), logs: [{ ...UPDATED, topics: topicsOf("0x02") }] },
  ],
])("the step is %s after a transaction %s", async (step, _, change) => {
  answers.eth_getTransactionReceipt = receipt(change);
  expect(await last()).toEqual({ step, hash: HASH, block: 7n });
});
