import { setTimeout as sleep } from "node:timers/promises";
import { recoverBatchReporter } from "@dataset-oracle/protocol/batch-report";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { recoverReporter, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type LocalAccount, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import type { Decider } from "../decisions/decider.js";
import type { ReportedDataset, ServedDataPoint } from "../keys/served-keys.js";
import { Metrics } from "../metrics.js";
import { problem } from "../problems.js";
import { ReportSigner } from "./report-signer.js";
import { Reporter } from "./reporter.js";

const round = 1_800_000_000n;
const address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const PRIVATE_KEY = `0x${"11".repeat(32)}` as const;

test("a reporter answers a row with its first key's problem, though another key's is found earlier", async () => {
  const dataset = { chainId: 42, address, keyForm: "WEB_ORACLE", keys: new Map() } as unknown as ReportedDataset;
  const find = async () => {
    await sleep(50);
    throw problem("invalid_arguments", { problem: "" });
  };
  const charged: number[] = [];
  const decider = { charge: (_caller: object, keys: number) => void charged.push(keys) };
  const served = new Map([[42, new Map([[address, dataset]] as const)]]);
  const reporter = new Reporter(served, { find }, decider as unknown as Decider, null as unknown as ReportSigner);
  const keys = [stringToHex(`WEB/${"0".repeat(64)}`), "0x00"];
  const caller = { id: "127.0.0.1", mayUseReserve: false, trace: null };
  const row = reporter.row({ network_id: 42, dataset: address, keys, timestamp: Number(round) }, caller);
  await expect(row).rejects.toMatchObject({ code: "invalid_arguments" });
  // Finding keys takes time, so it is charged before, and making the requests of the Web Oracle's counts as more.
  expect(charged).toEqual([6]);
});

test.each<[account: string, account: LocalAccount]>([
  ["an account in the process", accountFromPrivateKey(PRIVATE_KEY)],
  ["an account that signs typed data and no digests", { ...privateKeyToAccount(PRIVATE_KEY), sign: undefined }],
])("%s signs reports and rows that the contract takes", async (_, account) => {
  const signer = new ReportSigner(account, pino({ level: "silent" }), new Metrics(new Registry()));
  const key = spotPriceKey("ETH-USD");
  const digests = new FastReportDigests(42, address, keccak);
  const dataset = { chainId: 42, address, digests } as Partial<ReportedDataset> as ReportedDataset;
  const dataPoint = { id: "", dataset, key: { key } } as ServedDataPoint;
  const decision = { outcome: "NOT_AVAILABLE", value: ZERO_VALUE } as const;
  const common = { chainId: 42, dataset: address, round } as const;
  const { signature } = await signer.signReport(dataPoint, round, decision, null);
  expect(await recoverReporter({ ...common, key, ...decision }, signature)).toBe(account.address);
  const row = await signer.signRow(dataset, [key], round, [decision], null);
  const batch = { ...common, keys: [key], missing: 1n, values: [ZERO_VALUE] };
  expect(await recoverBatchReporter(batch, row.signature)).toBe(account.address);
});
