import { type Address, concatBytes, domainSeparator, type Hex, hexToBytes, numberToBytes, stringToBytes } from "viem";
import { BATCH_REPORT_TYPES, type BatchReport } from "./batch-report.js";
import { type Outcome, QUERY_STATUSES, REPORT_TYPES, type ReportSubject, reportDomain } from "./report.js";

/** Hashes bytes: keccak256. */
export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** For example `Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)`. */
const typeOf = (name: string, fields: readonly { readonly type: string; readonly name: string }[]) =>
  stringToBytes(`${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`);

const REPORT_TYPE = typeOf("Report", REPORT_TYPES.Report);
const BATCH_REPORT_TYPE = typeOf("BatchReport", BATCH_REPORT_TYPES.BatchReport);

/**
 * The digests of one dataset's reports, for who makes or checks many: each is what `reportDigest` or `batchReportDigest`
 * makes, and what several have in common is hashed once, with a keccak of the caller's choice.
 */
export class ReportDigests {
  readonly #reportType: Uint8Array;
  readonly #batchReportType: Uint8Array;
  /** 0x1901, the domain, and room for the report's hash. */
  readonly #prefixed = new Uint8Array(66);

  constructor(
    chainId: number,
    dataset: Address,
    private readonly keccak: Keccak,
  ) {
    this.#reportType = keccak(REPORT_TYPE);
    this.#batchReportType = keccak(BATCH_REPORT_TYPE);
    this.#prefixed.set([0x19, 0x01]);
    this.#prefixed.set(hexToBytes(domainSeparator({ domain: reportDomain(chainId, dataset) })), 2);
  }

  /** @returns What makes the digest, in 32 bytes, of a report that says this of a key at a round. */
  of({ key, timestamp }: Pick<ReportSubject, "key" | "timestamp">): (outcome: Outcome, value: Hex) => Uint8Array {
    // One word each: the type, the key's hash, the outcome, the value, the timestamp.
    const report = new Uint8Array(160);
    report.set(this.#reportType);
    report.set(this.keccak(hexToBytes(key)), 32);
    report.set(numberToBytes(timestamp, { size: 32 }), 128);
    return (outcome, value) => {
      report[95] = QUERY_STATUSES.indexOf(outcome);
      report.set(hexToBytes(value, { size: 32 }), 96);
      return this.#digestOf(report);
    };
  }

  /** @returns The digest, in 32 bytes, of a row of a batch. */
  ofRow({ keys, missing, values, timestamp }: Omit<BatchReport, "chainId" | "dataset">): Uint8Array {
    return this.#digestOf(
      concatBytes([
        this.#batchReportType,
        this.keccak(concatBytes(keys.map((key) => this.keccak(hexToBytes(key))))),
        numberToBytes(missing, { size: 32 }),
        this.keccak(concatBytes(values.map((value) => hexToBytes(value, { size: 32 })))),
        numberToBytes(timestamp, { size: 32 }),
      ]),
    );
  }

  /** @param report Its type's hash and its fields, a word each. */
  #digestOf(report: Uint8Array): Uint8Array {
    this.#prefixed.set(this.keccak(report), 34);
    return this.keccak(this.#prefixed);
  }
}
