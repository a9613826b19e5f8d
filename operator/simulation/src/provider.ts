import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import type { BatchReportRequest, ReportRequest } from "@dataset-oracle/protocol/http-schemas/reports";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { addressOf, SECP256K1 } from "@dataset-oracle/service/crypto/secp256k1";
import { LRUCache } from "lru-cache";
import { type Address, bytesToHex, type Hex, hexToBytes, keccak256, stringToHex, toHex } from "viem";
import type { PriceModel } from "./market.js";

/** How a member misbehaves. */
export type Misbehavior =
  | "is down"
  | "is silent"
  | "is slow"
  | "answers 503"
  | "answers garbage"
  | "signs with another key"
  | "signs another round"
  | "signs wrong values"
  | "contradicts itself";

/** What a member answers: a status and a text; after a delay that is added to the network's. */
export interface ProviderAnswer {
  readonly status: number;
  readonly text: string;
  readonly delayMs: number;
}

const SLOW_MS = 5_000;
const ZERO_BITMAP = toHex(0, { size: 32 });

/** A member of the committee that signs what the market says: the same for whoever asks, unless it misbehaves. */
export class SimulatedProvider {
  readonly address: Address;
  readonly #key: Uint8Array;
  readonly #strangersKey: Uint8Array;
  readonly #digests: FastReportDigests;
  readonly #signed = new LRUCache<string, string>({ max: 500 });
  /** What it says of a round of a key, also when it has stopped misbehaving: who signs two values counts as faulty for long. */
  readonly #told = new LRUCache<string, bigint>({ max: 1_000 });
  misbehavior: Misbehavior | null = null;
  /** The key that it does not serve. */
  unserved: Hex | null = null;

  constructor(
    chainId: number,
    dataset: Address,
    privateKey: Hex,
    private readonly market: PriceModel,
  ) {
    this.#key = hexToBytes(privateKey);
    this.#strangersKey = hexToBytes(keccak256(privateKey));
    this.address = addressOf(SECP256K1.publicKeyOf(this.#key));
    this.#digests = new FastReportDigests(chainId, dataset, keccak);
  }

  /** @returns Null if it stays silent. @param asker Whom a member answers that contradicts itself. */
  answer(path: string, body: string, asker: number): ProviderAnswer | "refuses" | null {
    const { misbehavior } = this;
    if (misbehavior === "is down") return "refuses";
    if (misbehavior === "is silent") return null;
    if (misbehavior === "answers 503")
      return { status: 503, text: JSON.stringify({ code: "internal_error" }), delayMs: 0 };
    if (misbehavior === "answers garbage") return { status: 200, text: "<html>", delayMs: 0 };
    if (this.unserved !== null && body.includes(`"${this.unserved}"`))
      return { status: 404, text: JSON.stringify({ code: "unknown_key" }), delayMs: 0 };
    const delayMs = misbehavior === "is slow" ? SLOW_MS : 0;
    const variant = misbehavior === "contradicts itself" ? asker : 0;
    const id = `${misbehavior} ${variant} ${path} ${body}`;
    const known = this.#signed.get(id);
    if (known !== undefined) return { status: 200, text: known, delayMs };
    const text = JSON.stringify(path.endsWith("/batch") ? this.#row(body, variant) : this.#report(body, variant));
    this.#signed.set(id, text);
    return { status: 200, text, delayMs };
  }

  /** Whether it has decided all that is asked for: that it signs again, however old it is. */
  hasDecided(body: string): boolean {
    const { key, keys = [key], timestamp } = JSON.parse(body) as { key: string; keys?: string[]; timestamp: number };
    return keys.every((each) => this.#told.has(`${each} ${timestamp}`));
  }

  #report(body: string, variant: number): object {
    const asked = JSON.parse(body) as ReportRequest;
    const timestamp = this.#roundOf(asked);
    const value = this.#value(asked.key, timestamp, variant);
    const digest = this.#digests.of({ key: asked.key as Hex, round: BigInt(timestamp) })("OK", value);
    return { ...asked, timestamp, provider: this.address, outcome: "OK", value, signature: this.#sign(digest) };
  }

  #row(body: string, variant: number): object {
    const asked = JSON.parse(body) as BatchReportRequest;
    const timestamp = this.#roundOf(asked);
    const values = asked.keys.map((key) => this.#value(key, timestamp, variant));
    const row = { keys: asked.keys as Hex[], missing: 0n, values, round: BigInt(timestamp) };
    const signature = this.#sign(this.#digests.ofRow(row));
    return { ...asked, timestamp, provider: this.address, missing: ZERO_BITMAP, values, signature };
  }

  #roundOf({ timestamp }: { readonly timestamp: number }): number {
    return this.misbehavior === "signs another round" ? timestamp - 1 : timestamp;
  }

  #value(key: string, round: number, variant: number): Hex {
    const id = `${key} ${round}`;
    // Members read at slightly different moments.
    const own = () => this.market.priceOf(key as Hex, round) + BigInt(parseInt(this.address.slice(-2), 16));
    const told = this.#told.get(id) ?? own() * (this.misbehavior === "signs wrong values" ? 2n : 1n);
    this.#told.set(id, told);
    return toHex(told + BigInt(variant), { size: 32 });
  }

  #sign(digest: Uint8Array): Hex {
    const key = this.misbehavior === "signs with another key" ? this.#strangersKey : this.#key;
    const { rs, parity } = SECP256K1.sign(digest, key);
    return `${bytesToHex(rs)}${parity === 0 ? "1b" : "1c"}`;
  }
}

/** A key that nobody else has, for a role in the simulation of a seed. */
export const privateKeyOf = (role: string, seed: number): Hex => keccak256(stringToHex(`${role} of seed ${seed}`));
