import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { agreedValue, agreesWith } from "@dataset-oracle/protocol/agreed-value";
import { isMissing } from "@dataset-oracle/protocol/batch-report";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee-hash";
import { fullSignature } from "@dataset-oracle/protocol/compact-signature";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { absenteesOf, type PackedUpdate, signedIn } from "@dataset-oracle/protocol/packed-update";
import { faultBound, isQuorum } from "@dataset-oracle/protocol/quorum";
import { decodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { recoverSignerSync } from "@dataset-oracle/service/crypto/recover-signer-sync";
import { LRUCache } from "lru-cache";
import {
  type Address,
  bytesToHex,
  decodeFunctionData,
  encodeErrorResult,
  encodeFunctionResult,
  type Hex,
  keccak256,
  pad,
} from "viem";

export const ZERO = pad("0x", { size: 32 });
const [OK, NOT_AVAILABLE, DISAGREEMENT] = [1, 2, 3];
/** The outcomes of a key of a batch, as `KeyOutcome` numbers them. */
const [STORED, UNKNOWN_KEY, STALE_ROUND, NO_QUORUM] = [0, 1, 2, 3];

export interface StoredPoint {
  readonly value: Hex;
  readonly round: bigint;
  readonly status: number;
}

/** What the dataset stores, by the hash of the key. It is never changed: an update makes another. */
export type Points = ReadonlyMap<Hex, StoredPoint>;

export interface UpdatedEvent extends StoredPoint {
  readonly keyHash: Hex;
}

/** What a call did. */
export interface Execution {
  readonly points: Points;
  readonly events: readonly UpdatedEvent[];
  readonly result: Hex;
  readonly gasUsed: bigint;
}

/** A call that reverts, with the error's data. */
export class Reverted extends Error {
  constructor(
    readonly errorName: ErrorName,
    readonly data: Hex,
  ) {
    super("execution reverted");
  }
}

type ErrorName = Extract<(typeof datasetAbi)[number], { type: "error" }>["name"];

function revert(errorName: ErrorName, args: readonly unknown[]): never {
  throw new Reverted(errorName, encodeErrorResult({ abi: datasetAbi, errorName, args } as never));
}

/** Signatures are recovered once, however often an update is simulated, estimated and mined. */
const recovered = new LRUCache<string, Address>({ max: 2_000 });

/** Calldata is read once, however often an update is simulated, estimated and mined. */
const calls = new LRUCache<Hex, { readonly call: PackedUpdate | null }>({ max: 500 });

function callIn(data: Hex): PackedUpdate | null {
  const known = calls.get(data) ?? { call: decodeUpdateCall(data) };
  calls.set(data, known);
  return known.call;
}

/**
 * A median dataset of spot prices: what its functions store, emit, return and revert with. It takes the meaning of calldata
 * from `protocol`, and checks what the contract checks: round, quorum, signatures, committee, median.
 */
export class DatasetModel {
  readonly #digests: FastReportDigests;

  constructor(
    chainId: number,
    readonly address: Address,
    readonly committee: Committee,
    private readonly maxRoundAge = 300n,
    private readonly queryPrice = 1_000n,
  ) {
    this.#digests = new FastReportDigests(chainId, address, keccak);
  }

  /**
   * Executes a call.
   *
   * @param timestamp The block's, in seconds since 1970.
   * @throws Reverted
   */
  execute(points: Points, data: Hex, timestamp: number): Execution {
    const call = callIn(data);
    if (call === null) return { points, events: [], result: this.#view(points, data), gasUsed: 30_000n };
    return call.kind === "update"
      ? this.#update(points, call, BigInt(timestamp))
      : this.#updateBatch(points, call, BigInt(timestamp));
  }

  /** The answer to a query, as its three fields. */
  query(points: Points, keyHash: Hex): { readonly output: Hex; readonly updatedAt: bigint; readonly status: number } {
    const point = points.get(keyHash);
    return { output: point?.value ?? ZERO, updatedAt: point?.round ?? 0n, status: point?.status ?? NOT_AVAILABLE };
  }

  #view(points: Points, data: Hex): Hex {
    const { functionName, args } = decodeFunctionData({ abi: datasetAbi, data });
    const result = (value: unknown) => encodeFunctionResult({ abi: datasetAbi, functionName, result: value } as never);
    switch (functionName) {
      case "judgement":
      case "keyForm":
        return result(0);
      case "committeeHash":
        return result(committeeHash(this.committee));
      case "committeeBlock":
        return result(1n);
      case "maxRoundAge":
        return result(this.maxRoundAge);
      case "queryPrice":
        return result(this.queryPrice);
      case "query": {
        const { output, updatedAt, status } = this.query(points, keccak256((args as readonly [Hex])[0]));
        return result([output, updatedAt, status]);
      }
      case "accuse":
        // A committee of four members keeps all of them, whatever one has signed.
        return revert("CommitteeTooSmall", [BigInt(this.committee.members.length), 4n]);
      default:
        throw new Error(`The model of the dataset has no ${functionName}. Add it to dataset-model.ts.`);
    }
  }

  #update(points: Points, call: PackedUpdate & { readonly kind: "update" }, time: bigint): Execution {
    const { key, round, outcome } = call;
    const [signed, absentees] = [signedIn(call.members), absenteesOf(call)];
    const keyHash = keccak256(key);
    const point = points.get(keyHash);
    const functionName = outcome === "OK" ? "update" : "updateNotAvailable";
    const done = (all: Points, events: readonly UpdatedEvent[], status: number, isNew: boolean, gasUsed: bigint) => {
      const result = encodeFunctionResult({ abi: datasetAbi, functionName, result: [status, isNew] });
      return { points: all, events, result, gasUsed };
    };
    if (point !== undefined && round <= point.round) return done(points, [], point.status, false, 38_000n);
    this.#checkRound(round, time);
    const digestOf = this.#digests.of({ key, round });
    this.#checkCommittee(
      signed.map(({ value, ...signature }) => ({ digest: digestOf(outcome, value), signature })),
      absentees,
    );
    const values = signed.map(({ value }) => value);
    const stored = outcome === "OK" ? this.#conclude(values, absentees.length) : NO_DATA;
    if (outcome === "OK" && call.value !== stored.claim) revert("WrongMedian", [call.value, 0n, BigInt(values.length)]);
    const { claim: _, ...rest } = stored;
    const gasUsed = (point === undefined ? 105_000n : 48_000n) + 7_000n * BigInt(signed.length);
    return done(
      new Map(points).set(keyHash, { ...rest, round }),
      [{ keyHash, ...rest, round }],
      rest.status,
      true,
      gasUsed,
    );
  }

  #updateBatch(points: Points, call: PackedUpdate & { readonly kind: "batch" }, time: bigint): Execution {
    const { round, keyHashes } = call;
    const [rows, absentees] = [signedIn(call.members), absenteesOf(call)];
    this.#checkRound(round, time);
    this.#checkCommittee(
      rows.map(({ missing, values, ...signature }) => ({
        digest: this.#digests.ofRowWithHashes(keyHashes, { missing, values, round }),
        signature,
      })),
      absentees,
    );
    const members = call.members.length;
    const all = new Map(points);
    const events: UpdatedEvent[] = [];
    const outcomes = keyHashes.map((keyHash, index) => {
      const point = points.get(keyHash);
      if (point !== undefined && round <= point.round) return STALE_ROUND;
      if (point === undefined) return UNKNOWN_KEY;
      const present = rows.flatMap((row) => (isMissing(row, index) ? [] : [row.values[index] as Hex]));
      const absent = members - present.length;
      const hasNoData = rows.length - present.length;
      const hasQuorum = isQuorum(present.length, absent);
      if (!hasQuorum && !isQuorum(hasNoData, members - hasNoData)) return NO_QUORUM;
      const { claim: _, ...stored } = hasQuorum ? this.#conclude(present, absent) : NO_DATA;
      all.set(keyHash, { ...stored, round });
      events.push({ keyHash, ...stored, round });
      return STORED;
    });
    const result = encodeFunctionResult({ abi: datasetAbi, functionName: "updateBatch", result: outcomes });
    const gasUsed = 40_000n + 8_000n * BigInt(rows.length) + 11_000n * BigInt(keyHashes.length);
    return { points: all, events, result, gasUsed };
  }

  #checkRound(round: bigint, time: bigint): void {
    if (round > time) revert("FutureRound", [round, time]);
    if (time - round > this.maxRoundAge) revert("ExpiredRound", [time - round, this.maxRoundAge]);
  }

  /** Reverts unless the signers, in order, and the absentees are together the committee, and the signers a quorum. */
  #checkCommittee(
    signed: readonly { readonly digest: Uint8Array; readonly signature: { readonly r: Hex; readonly vs: Hex } }[],
    absentees: readonly Address[],
  ): void {
    const { members } = this.committee;
    if (!isQuorum(signed.length, absentees.length))
      revert("NoQuorum", [BigInt(signed.length), BigInt(absentees.length)]);
    const signers = signed.map(({ digest, signature }) => signerOf(digest, fullSignature(signature)));
    const isWhole = signers.length + absentees.length === members.length;
    const isInOrder = (all: readonly Address[]) => {
      const places = all.map((one) => members.indexOf(one));
      return places.every((place, i) => place >= 0 && (i === 0 || place > (places[i - 1] ?? -1)));
    };
    if (isWhole && isInOrder(signers) && isInOrder(absentees) && !signers.some((one) => absentees.includes(one)))
      return;
    revert("WrongCommittee", [ZERO, committeeHash(this.committee)]);
  }

  #conclude(
    values: readonly Hex[],
    absent: number,
  ): { readonly value: Hex; readonly status: number; readonly claim: Hex } {
    const claim = agreedValue("median", values);
    const outliers = values.filter((one) => !agreesWith("median", claim, one, this.committee.toleranceBps)).length;
    const isAgreed = outliers <= faultBound(values.length + absent);
    return isAgreed ? { value: claim, status: OK, claim } : { value: ZERO, status: DISAGREEMENT, claim };
  }
}

const NO_DATA = { value: ZERO, status: NOT_AVAILABLE, claim: ZERO } as const;

function signerOf(digest: Uint8Array, signature: Hex): Address {
  const id = `${bytesToHex(digest)}${signature}`;
  const known = recovered.get(id);
  if (known !== undefined) return known;
  const signer = recoverSignerSync(digest, signature) ?? "0x0000000000000000000000000000000000000000";
  recovered.set(id, signer);
  return signer;
}
