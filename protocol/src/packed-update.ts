import { type Address, getAddress, type Hex, numberToHex, size } from "viem";
import { MAX_BATCH_KEYS } from "./batch-report.js";
import { type Outcome, ZERO_VALUE } from "./report.js";
import { err, ok, type Result } from "./result.js";

/** The first byte of a packed update: reports of a value, reports of "no data", or rows of a batch. */
const KINDS = { OK: 1, NOT_AVAILABLE: 2, batch: 3 } as const;
/** The length that stands for the claimed value. */
const CLAIMED = "ff";
const WORD_BYTES = 32;
const ADDRESS_BYTES = 20;

/** A compact signature (EIP-2098). */
interface Signature {
  readonly r: Hex;
  readonly vs: Hex;
}

/** What one member signed about one key: 32 bytes, which are zero for "no data". */
export interface PackedReport extends Signature {
  readonly value: Hex;
}

/** What one member signed about every key of a batch. */
export interface PackedRow extends Signature {
  /** One bit for each key, lowest bit first; a set bit means that the member has no data for that key. */
  readonly missing: bigint;
  /** One value of 32 bytes for each key. */
  readonly values: readonly Hex[];
}

/** The content of a packed update. `docs/Protocol.md` has the format. All hex is in lower case, but addresses. */
export type PackedUpdate = {
  /** In seconds since 1970. */
  readonly round: bigint;
  /** In basis points. */
  readonly toleranceBps: bigint;
} & (
  | {
      readonly kind: "update";
      readonly key: Hex;
      /** The outcome that all reports have. */
      readonly outcome: Outcome;
      /** The value that the relayer claims to be the right one, in 32 bytes; zero unless the outcome is OK. */
      readonly value: Hex;
      readonly members: Members<PackedReport>;
    }
  | {
      readonly kind: "batch";
      readonly keyHashes: readonly Hex[];
      /** For each key, the index among the rows of the one whose value the relayer claims. */
      readonly picks: readonly number[];
      readonly members: Members<PackedRow>;
    }
);

/** A committee in its order: what each member signed, or the address of one that did not. */
type Members<T = Signature> = readonly (T | Address)[];

/** The addresses of the members that did not sign an update, in the committee's order. */
export const absenteesOf = ({ members }: PackedUpdate): readonly Address[] =>
  (members as Members).flatMap((member) => (typeof member === "string" ? [member] : []));

/** What the members that signed an update signed, in the committee's order. */
export const signedIn = <T extends Signature>(members: Members<T>): readonly T[] =>
  members.flatMap((member) => (typeof member === "string" ? [] : [member]));

/** Why bytes are no packed update: the contract's error, except that only the contract knows which kind it expects. */
export interface PackedFault {
  readonly name:
    | "WrongKind"
    | "WrongLength"
    | "UnusedBits"
    | "TooLong"
    | "LeadingZero"
    | "RepeatedClaim"
    | "TooManyKeys";
  readonly args: readonly bigint[];
}

type OneKey = PackedUpdate & { readonly kind: "update" };
type Batch = PackedUpdate & { readonly kind: "batch" };

/** Packs an update. Each content has exactly one packed form. */
export function packUpdate(update: PackedUpdate): Hex {
  const parts = update.kind === "batch" ? partsOfBatch(update) : partsOfOneKey(update);
  return `0x${parts.join("")}`;
}

function partsOfOneKey(update: OneKey): readonly string[] {
  const { key, outcome, value, members } = update;
  return [
    header(update, KINDS[outcome], size(key)),
    digits(key),
    bitmap(bitsOf(members), members.length),
    outcome === "OK" ? packValue(value) : "",
    ...packMembers(members, (report) => packReport(update, report)),
  ];
}

function partsOfBatch(batch: Batch): readonly string[] {
  const { keyHashes, picks, members } = batch;
  return [
    header(batch, KINDS.batch, keyHashes.length),
    ...keyHashes.map(digits),
    ...picks.map((pick) => number(pick, 1)),
    bitmap(bitsOf(members), members.length),
    ...packMembers(members, packRow),
  ];
}

/** @param length The key's bytes; in a batch, the number of keys. */
const header = ({ round, toleranceBps, members }: PackedUpdate, kind: number, length: number) =>
  number(kind, 1) + number(round, 5) + number(toleranceBps, 2) + number(members.length, 1) + number(length, 2);

/** One bit for each member that signed. */
const bitsOf = (members: Members) =>
  members.reduce((bits, member, i) => (typeof member === "string" ? bits : bits | (1n << BigInt(i))), 0n);

const packMembers = <T extends Signature>(members: Members<T>, pack: (signed: T) => string) =>
  members.map((member) => (typeof member === "string" ? digits(member).toLowerCase() : pack(member)));

function packReport(update: OneKey, { value, r, vs }: PackedReport): string {
  const signature = digits(r) + digits(vs);
  if (update.outcome !== "OK") return signature;
  return (value === update.value ? CLAIMED : packValue(value)) + signature;
}

/** A value without leading zeros, after its length. */
function packValue(value: Hex): string {
  const width = widthOf(value);
  return number(width, 1) + lastBytes(value, width);
}

function packRow({ missing, values, r, vs }: PackedRow): string {
  const width = Math.max(0, ...values.map(widthOf));
  const packed = values.map((value) => lastBytes(value, width)).join("");
  return number(width, 1) + bitmap(missing, values.length) + packed + digits(r) + digits(vs);
}

/** Unpacks an update, without checking its signatures. It accepts only what `packUpdate` returns. */
export function unpackUpdate(packed: Hex): Result<PackedUpdate, PackedFault> {
  try {
    return ok(new Unpacking(packed).update());
  } catch (error) {
    if (error instanceof UnpackingFault) return err(error.fault);
    throw error;
  }
}

/** Thrown between the methods of one unpacking. */
class UnpackingFault {
  readonly fault: PackedFault;

  constructor(name: PackedFault["name"], ...args: readonly (bigint | number)[]) {
    this.fault = { name, args: args.map(BigInt) };
  }
}

class Unpacking {
  readonly #digits: string;
  /** In hex digits. */
  #next = 0;

  constructor(packed: Hex) {
    this.#digits = digits(packed).toLowerCase();
  }

  update(): PackedUpdate {
    // Nothing at all counts as a kind that does not exist, as in the contract.
    if (this.#digits === "") throw new UnpackingFault("WrongKind", 0);
    const kind = this.#number(1);
    const header = { round: this.#bigint(5), toleranceBps: this.#bigint(2) };
    const [memberCount, length] = [this.#number(1), this.#number(2)];
    switch (kind) {
      case KINDS.OK: {
        const key = this.#hex(length);
        const signers = this.#bitmap(memberCount);
        const value = this.#value(this.#number(1));
        const members = this.#members(memberCount, signers, () => this.#report(value));
        return this.#whole({ kind: "update", ...header, key, outcome: "OK", value, members });
      }
      case KINDS.NOT_AVAILABLE: {
        const key = this.#hex(length);
        const signers = this.#bitmap(memberCount);
        const members = this.#members(memberCount, signers, () => ({ value: ZERO_VALUE, ...this.#signature() }));
        return this.#whole({ kind: "update", ...header, key, outcome: "NOT_AVAILABLE", value: ZERO_VALUE, members });
      }
      case KINDS.batch: {
        if (length > MAX_BATCH_KEYS) throw new UnpackingFault("TooManyKeys", length, MAX_BATCH_KEYS);
        const keyHashes = times(length, () => this.#hex(WORD_BYTES));
        const picks = times(length, () => this.#number(1));
        const signers = this.#bitmap(memberCount);
        const members = this.#members(memberCount, signers, () => this.#row(length));
        return this.#whole({ kind: "batch", ...header, keyHashes, picks, members });
      }
      default:
        throw new UnpackingFault("WrongKind", kind);
    }
  }

  /** Nothing may follow the last item. */
  #whole(update: PackedUpdate): PackedUpdate {
    if (this.#next !== this.#digits.length)
      throw new UnpackingFault("WrongLength", this.#digits.length / 2, this.#offset);
    return update;
  }

  #members<T>(count: number, signers: bigint, takeSigned: () => T): (T | Address)[] {
    return Array.from({ length: count }, (_, i) =>
      hasBit(signers, i) ? takeSigned() : getAddress(this.#hex(ADDRESS_BYTES)),
    );
  }

  #report(claim: Hex): PackedReport {
    const offset = this.#offset;
    const width = this.#take(1);
    const value = width === CLAIMED ? claim : this.#value(Number.parseInt(width, 16));
    if (width !== CLAIMED && value === claim) throw new UnpackingFault("RepeatedClaim", offset);
    return { value, ...this.#signature() };
  }

  /** @param width The byte before the value. */
  #value(width: number): Hex {
    const offset = this.#offset - 1;
    if (width > WORD_BYTES) throw new UnpackingFault("TooLong", width, WORD_BYTES);
    const value = this.#word(width);
    if (widthOf(value) !== width) throw new UnpackingFault("LeadingZero", offset);
    return value;
  }

  #row(keys: number): PackedRow {
    const offset = this.#offset;
    const width = this.#number(1);
    const missing = this.#bitmap(keys);
    if (width > WORD_BYTES) throw new UnpackingFault("TooLong", width, WORD_BYTES);
    const values = times(keys, () => this.#word(width));
    if (Math.max(0, ...values.map(widthOf)) !== width) throw new UnpackingFault("LeadingZero", offset);
    return { missing, values, ...this.#signature() };
  }

  #signature(): Signature {
    return { r: this.#hex(WORD_BYTES), vs: this.#hex(WORD_BYTES) };
  }

  #bitmap(bits: number): bigint {
    const bitmap = this.#bigint(bitmapBytes(bits));
    if (bitmap >> BigInt(bits) !== 0n) throw new UnpackingFault("UnusedBits", bitmap, bits);
    return bitmap;
  }

  /** In bytes. */
  get #offset(): number {
    return this.#next / 2;
  }

  #word(width: number): Hex {
    return `0x${this.#take(width).padStart(2 * WORD_BYTES, "0")}`;
  }

  #hex(bytes: number): Hex {
    return `0x${this.#take(bytes)}`;
  }

  #number(bytes: number): number {
    return Number.parseInt(this.#take(bytes), 16);
  }

  #bigint(bytes: number): bigint {
    return bytes === 0 ? 0n : BigInt(this.#hex(bytes));
  }

  #take(bytes: number): string {
    const end = this.#next + 2 * bytes;
    if (end > this.#digits.length) throw new UnpackingFault("WrongLength", this.#digits.length / 2, end / 2);
    const taken = this.#digits.slice(this.#next, end);
    this.#next = end;
    return taken;
  }
}

const digits = (hex: Hex) => hex.slice(2);

/** Writes a number in as many bytes. */
const number = (value: bigint | number, bytes: number) =>
  bytes === 0 ? "" : digits(numberToHex(value, { size: bytes }));

/** Returns the number of bytes that a word has without its leading zeros. */
const widthOf = (word: Hex) => Math.ceil(word.slice(2).replace(/^0+/, "").length / 2);

/** The last bytes of a word; none for a width of 0. */
const lastBytes = (word: Hex, width: number) => word.slice(word.length - 2 * width);

const bitmap = (bits: bigint, count: number) => number(bits, bitmapBytes(count));

/** Returns the number of bytes of a bitmap. */
const bitmapBytes = (bits: number) => Math.ceil(bits / 8);

const hasBit = (bitmap: bigint, index: number) => ((bitmap >> BigInt(index)) & 1n) === 1n;

const times = <T>(count: number, take: () => T): T[] => Array.from({ length: count }, take);
