import { setTimeout as sleep } from "node:timers/promises";
import { recoverBatchReporter } from "@dataset-oracle/protocol/batch-report";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { recoverReporter, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type LocalAccount, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { Decider } from "./decisions/decider.js";
import { DecisionMemory } from "./decisions/decision-memory.js";
import { Metrics } from "./metrics.js";
import { invalidArguments } from "./problems.js";
import { ReportSigner } from "./report-signer.js";
import { Reporter } from "./reporter.js";
import type { ServedDataset } from "./served-keys.js";
import { SourceReader } from "./source/source-reader.js";
import { ExtractionPool } from "./web-oracle/extraction-pool.js";
import { RateLimitedExtractor } from "./web-oracle/rate-limited-extractor.js";

const NOW = 1_800_000_000;
const key = spotPriceKey("ETH-USD");
const address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const PRIVATE_KEY = `0x${"11".repeat(32)}` as const;

/** A reporter of a key whose sources are none: it signs that there is no data. */
async function newReporter(account: LocalAccount = privateKeyToAccount(PRIVATE_KEY)) {
  const now = () => BigInt(NOW);
  const dataset = {
    chainId: 42,
    address,
    kind: "median",
    keyForm: "SPOT_PRICE",
    digests: new FastReportDigests(42, address, keccak),
    keys: new Map([[key, { kind: "spot_price", key, name: "SPOTPX/ETH-USD", sources: [] }] as const]),
    unservedKeys: [],
  } as const;
  const policy = { minSources: 2, maxDeviationBps: 200, maxQuoteAge: 120 };
  const [logger, metrics] = [pino({ level: "silent" }), new Metrics(new Registry())];
  const reader = new SourceReader({ egress: new Egress(), timeoutMs: 10_000, hasReserve: false, now });
  const extractor = new RateLimitedExtractor(new ExtractionPool(), false);
  const memory = new DecisionMemory({ hasReserve: false });
  const lease = { refusedThrough: 0n, problem: null, cover: async () => {}, permits: () => true };
  return new Reporter({
    served: new Map([[42, new Map([[address, dataset]])]]),
    webOracleKeys: null,
    decider: new Decider({ reader, extractor, policy, memory, lease, evidence: null, now, logger, metrics }),
    signer: new ReportSigner({ account, logger, metrics }),
  });
}

const caller = { id: "127.0.0.1", mayUseReserve: false, trace: null };
const request = (timestamp: number) => ({ network_id: 42, dataset: address, key, timestamp });

it("a reporter answers a row with its first key's problem, though another key's is found earlier", async () => {
  const dataset = { chainId: 42, address, keyForm: "WEB_ORACLE", keys: new Map() } as unknown as ServedDataset;
  const find = async () => {
    await sleep(50);
    throw invalidArguments("");
  };
  const parts = { served: new Map([[42, new Map([[address, dataset]])]]), webOracleKeys: { find } };
  const reporter = new Reporter(parts as unknown as ConstructorParameters<typeof Reporter>[0]);
  const keys = [stringToHex(`WEB/${"0".repeat(64)}`), "0x00"];
  const row = reporter.row({ network_id: 42, dataset: address, keys, timestamp: NOW }, caller);
  await expect(row).rejects.toMatchObject({ code: "invalid_arguments" });
});

describe.each<[account: string, account: LocalAccount]>([
  ["an account in the process", accountFromPrivateKey(PRIVATE_KEY)],
  ["an account that signs typed data and no digests", { ...privateKeyToAccount(PRIVATE_KEY), sign: undefined }],
])("a reporter with %s", (_, account) => {
  it("signs reports and rows that the contract takes", async () => {
    const reporter = await newReporter(account);
    const common = { chainId: 42, dataset: address, round: BigInt(NOW) } as const;
    const { signature } = await reporter.report(request(NOW), caller);
    const report = { ...common, key, outcome: "NOT_AVAILABLE", value: ZERO_VALUE } as const;
    expect(await recoverReporter(report, signature)).toBe(account.address);
    const row = await reporter.row({ network_id: 42, dataset: address, keys: [key], timestamp: NOW }, caller);
    const batch = { ...common, keys: [key], missing: 1n, values: [ZERO_VALUE] };
    expect(await recoverBatchReporter(batch, row.signature)).toBe(account.address);
  });
});
