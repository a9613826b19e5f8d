import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { type Address, type Hex, numberToHex, parseTransaction } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { beforeEach, expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { classifyNodeError, SUBMIT } from "../rpc/node-errors.js";
import { RpcError } from "../rpc/rpc-error.js";
import { GasBudget } from "./gas-budget.js";
import { Submitter } from "./submitter.js";
import { InFlightTransactions, type RoundCall, Task, type Transaction } from "./task.js";

const ACCOUNT = privateKeyToAccount(numberToHex(1, { size: 32 }));
const DATASET: Address = "0x0000000000000000000000000000000000000da7";
const CAPS = { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 1_000n, maxPending: 8 };
const MARKET = { type: "eip1559", baseFee: 1n, priorityFee: 1n, blockGas: 30_000_000n } as const;
const TOO_HIGH = "transaction gas limit too high (cap: 16777216, tx: 20000000)";
const NONCE = 7;
const TRANSFER_GAS = 21_000n;

const callOf = (gas: bigint): RoundCall => ({ to: DATASET, data: "0x01", gas, round: 1n, expiresAt: 1e15 });

/** Where and with how much gas was submitted. */
let submitted: [to: unknown, gas: unknown][];
/** What nodes answer to the next submissions; null to accept them. */
let refusal: string | null;
/** The gas of the newest round. */
let renewedGas: bigint;
let submitter: Submitter;
let transaction: Transaction;

const client = createChainClient(42, {
  async request(method, params) {
    if (method === "eth_estimateGas") return numberToHex(TRANSFER_GAS);
    if (method !== SUBMIT) return null;
    const { to, gas } = parseTransaction(params[0] as Hex);
    submitted.push([to, gas]);
    if (refusal === null) return numberToHex(1, { size: 32 });
    throw new RpcError("refused", 42, method, refusal, null, classifyNodeError(refusal));
  },
});

beforeEach(async () => {
  [submitted, refusal, renewedGas] = [[], "no answer within 5000 ms", 10_000_000n];
  const clock = clockOf(() => 0);
  const inFlight = new InFlightTransactions();
  const charge = () => new GasBudget(clock, { perHour: 1n }).open();
  const log = pino({ level: "silent" });
  const context = { clock, logger: log, closing: new AbortController().signal };
  submitter = new Submitter(client, ACCOUNT, inFlight, () => {}, charge, context, CAPS);
  const renew = async () => callOf(renewedGas);
  const call = callOf(20_000_000n);
  const subject = { dataset: DATASET, keys: [], accused: null };
  const work = { payer: null, subject, charge: charge(), call, renew, isStored: async () => false };
  await submitter.submit(NONCE, new Task(work, null), MARKET);
  transaction = inFlight.get(NONCE) as Transaction;
  refusal = TOO_HIGH;
  await submitter.rebroadcast(transaction);
  submitted = [];
});

test("a transaction whose gas was refused counts as stuck, and the same call does not take its place", async () => {
  expect(transaction).toMatchObject({ isAccepted: false, sentAt: Number.NEGATIVE_INFINITY });
  refusal = null;
  await submitter.replace(transaction, "same", MARKET);
  expect(submitted).toEqual([[ACCOUNT.address.toLowerCase(), TRANSFER_GAS]]);
});

test("the newest round takes its place, and if its gas is refused, too, the nonce is cancelled", async () => {
  await submitter.replace(transaction, "newest", MARKET);
  await expect.poll(() => transaction.renewal).toMatchObject({ call: { gas: renewedGas } });
  for (let i = 0; i < 2; i++) await submitter.replace(transaction, "newest", MARKET);
  expect(submitted).toEqual([
    [DATASET, renewedGas],
    [ACCOUNT.address.toLowerCase(), TRANSFER_GAS],
  ]);
});

test("what takes the place of an update that has reverted before has more gas", async () => {
  refusal = null;
  transaction.task?.countRevert();
  await submitter.replace(transaction, "newest", MARKET);
  await expect.poll(() => transaction.renewal).toMatchObject({ call: { gas: 2n * renewedGas } });
});
