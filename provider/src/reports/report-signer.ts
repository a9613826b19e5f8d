import { type BatchReport, signBatchReport } from "@dataset-oracle/protocol/batch-report";
import type { SignedBatchReport, SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import { type Report, signReport } from "@dataset-oracle/protocol/report";
import { isLogged, type Trace, traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { bytesToHex, type Hex, type LocalAccount, numberToHex } from "viem";
import type { Decision } from "../decisions/decision-memory.js";
import { dataPointLogFields, type ReportedDataset, type ServedDataPoint } from "../keys/served-keys.js";
import type { Metrics } from "../metrics.js";

/** Enough for a thousand keys in each of the rounds that can be signed at a time, several times over. */
const MAX_SIGNATURES = 50_000;

/** Signs decisions as reports and as rows of batches. */
export class ReportSigner {
  /** By digest, so that what is asked for again is not signed again. */
  readonly #signatures = new LRUCache<Hex, Promise<Hex>>({ max: MAX_SIGNATURES });

  /** @param account One that cannot sign digests, because its key is elsewhere, signs typed data instead. */
  constructor(
    private readonly account: LocalAccount,
    private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {}

  async signReport(
    dataPoint: ServedDataPoint,
    round: bigint,
    decision: Decision,
    trace: Trace | null,
  ): Promise<SignedReport> {
    const { account, logger, metrics } = this;
    const { dataset, key } = dataPoint;
    const { outcome, value } = decision;
    const report: Report = { chainId: dataset.chainId, dataset: dataset.address, key: key.key, round, outcome, value };
    const digest = bytesToHex(dataset.digests.of(report)(outcome, value));
    const signature = await this.#signOnce(digest, async () => {
      const signature = await (account.sign?.({ hash: digest }) ?? signReport(account, report));
      metrics.signedReports.inc({ outcome });
      if (isLogged(trace))
        logger.info({ ...dataPointLogFields(dataPoint, round, trace), outcome, value }, "report signed");
      return signature;
    });
    return {
      network_id: dataset.chainId,
      dataset: dataset.address,
      key: key.key,
      timestamp: Number(round),
      provider: account.address,
      outcome,
      value,
      signature,
    };
  }

  /** @param decisions One for each of the keys, in their order. */
  async signRow(
    dataset: ReportedDataset,
    keys: readonly Hex[],
    round: bigint,
    decisions: readonly Decision[],
    trace: Trace | null,
  ): Promise<SignedBatchReport> {
    const { account, logger, metrics } = this;
    const missing = decisions.reduce(
      (bits, { outcome }, i) => (outcome === "OK" ? bits : bits | (1n << BigInt(i))),
      0n,
    );
    const values = decisions.map(({ value }) => value);
    const { chainId, address } = dataset;
    const row: BatchReport = { chainId, dataset: address, keys, round, missing, values };
    const digest = bytesToHex(dataset.digests.ofRow(row));
    const signature = await this.#signOnce(digest, async () => {
      const signature = await (account.sign?.({ hash: digest }) ?? signBatchReport(account, row));
      metrics.signedRows.inc();
      if (!isLogged(trace)) return signature;
      const notAvailable = decisions.filter(({ outcome }) => outcome !== "OK").length;
      const about = { network: chainId, dataset: address, keys: keys.length, notAvailable };
      logger.info({ ...traceFieldsOf(trace), ...about, round: Number(round) }, "row signed");
      return signature;
    });
    return {
      network_id: chainId,
      dataset: address,
      keys: [...keys],
      timestamp: Number(round),
      provider: account.address,
      missing: numberToHex(missing, { size: 32 }),
      values,
      signature,
    };
  }

  #signOnce(digest: Hex, sign: () => Promise<Hex>): Promise<Hex> {
    const known = this.#signatures.get(digest);
    if (known !== undefined) return known;
    const signature = sign();
    this.#signatures.set(digest, signature);
    signature.catch(() => this.#signatures.delete(digest));
    return signature;
  }
}
