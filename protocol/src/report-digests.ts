import { type Address, domainSeparator, type Hex, hexToBytes, numberToBytes, stringToBytes } from "viem";
import { type Outcome, QUERY_STATUSES, REPORT_TYPES, type ReportSubject, reportDomain } from "./report.js";

/** Hashes bytes: keccak256. */
export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** `Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)`. */
const TYPE = `Report(${REPORT_TYPES.Report.map(({ type, name }) => `${type} ${name}`).join(",")})`;

/**
 * The digests of one dataset's reports, for who checks many: each is what `reportDigest` makes, and what several have in
 * common is hashed once, with a keccak of the caller's choice.
 */
export class ReportDigests {
  readonly #type: Uint8Array;
  /** 0x1901, the domain, and room for the report's hash. */
  readonly #prefixed = new Uint8Array(66);

  constructor(
    chainId: number,
    dataset: Address,
    private readonly keccak: Keccak,
  ) {
    this.#type = keccak(stringToBytes(TYPE));
    this.#prefixed.set([0x19, 0x01]);
    this.#prefixed.set(hexToBytes(domainSeparator({ domain: reportDomain(chainId, dataset) })), 2);
  }

  /** @returns What makes the digest, in 32 bytes, of a report that says this of a key at a round. */
  of({ key, timestamp }: Pick<ReportSubject, "key" | "timestamp">): (outcome: Outcome, value: Hex) => Uint8Array {
    // One word each: the type, the key's hash, the outcome, the value, the timestamp.
    const report = new Uint8Array(160);
    report.set(this.#type);
    report.set(this.keccak(hexToBytes(key)), 32);
    report.set(numberToBytes(timestamp, { size: 32 }), 128);
    return (outcome, value) => {
      report[95] = QUERY_STATUSES.indexOf(outcome);
      report.set(hexToBytes(value, { size: 32 }), 96);
      this.#prefixed.set(this.keccak(report), 34);
      return this.keccak(this.#prefixed);
    };
  }
}
