import {
  type Address,
  concatBytes,
  concatHex,
  domainSeparator,
  type Hex,
  hexToBytes,
  numberToBytes,
  stringToBytes,
} from "viem";
import { BATCH_REPORT_TYPES, type BatchReport } from "./batch-report.js";
import { QUERY_STATUSES } from "./query-status.js";
import { type Outcome, REPORT_TYPES, type ReportHeader, reportDomain } from "./report.js";

/** Hashes bytes: keccak256. */
export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** For example `Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)`. */
const typeOf = (name: string, fields: readonly { readonly type: string; readonly name: string }[]) =>
  stringToBytes(`${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`);

const REPORT_TYPE = typeOf("Report", REPORT_TYPES.Report);
const BATCH_REPORT_TYPE = typeOf("BatchReport", BATCH_REPORT_TYPES.BatchReport);

/** The signed content of a row of a batch. */
type Row = Pick<BatchReport, "missing" | "values" | "round">;

/**
 * Computes the digests of one dataset's reports, for code that signs or checks many. Each equals the result of
 * `reportDigest` or `batchReportDigest`, but the parts that several reports share are hashed only once, with the
 * caller's keccak.
 */
export class FastReportDigests {
  readonly #reportType: Uint8Array;
  readonly #batchReportType: Uint8Array;
  /** 0x1901, the domain separator, and space for the report's hash. */
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

  /** Returns a function that computes the 32-byte digest of a report about this key and round. */
  of({ key, round }: Pick<ReportHeader, "key" | "round">): (outcome: Outcome, value: Hex) => Uint8Array {
    // One word each: the type hash, the key's hash, the outcome, the value, the timestamp.
    const report = new Uint8Array(160);
    report.set(this.#reportType);
    report.set(this.keccak(hexToBytes(key)), 32);
    report.set(numberToBytes(round, { size: 32 }), 128);
    return (outcome, value) => {
      report[95] = QUERY_STATUSES.indexOf(outcome);
      report.set(hexToBytes(value, { size: 32 }), 96);
      return this.#digestOf(report);
    };
  }

  /** Computes the 32-byte digest of a row of a batch. */
  ofRow({ keys, ...row }: Row & Pick<BatchReport, "keys">): Uint8Array {
    return this.ofRows(keys)(row);
  }

  /** Returns a function that computes what `ofRow` does for rows about the same keys, which are hashed only once. */
  ofRows(keys: readonly Hex[]): (row: Row) => Uint8Array {
    const keysHash = this.keccak(concatBytes(keys.map((key) => this.keccak(hexToBytes(key)))));
    return (row) => this.#ofRow(keysHash, row);
  }

  /** Computes what `ofRow` does from the keys' hashes, because an update's calldata does not have the keys. */
  ofRowWithHashes(keyHashes: readonly Hex[], row: Row): Uint8Array {
    return this.#ofRow(this.keccak(hexToBytes(concatHex(keyHashes))), row);
  }

  #ofRow(keysHash: Uint8Array, { missing, values, round }: Row) {
    return this.#digestOf(
      concatBytes([
        this.#batchReportType,
        keysHash,
        numberToBytes(missing, { size: 32 }),
        this.keccak(concatBytes(values.map((value) => hexToBytes(value, { size: 32 })))),
        numberToBytes(round, { size: 32 }),
      ]),
    );
  }

  /** @param report The encoded struct: its type hash and its fields, one word each. */
  #digestOf(report: Uint8Array): Uint8Array {
    this.#prefixed.set(this.keccak(report), 34);
    return this.keccak(this.#prefixed);
  }
}
