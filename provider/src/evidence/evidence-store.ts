import { appendFile, mkdir, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { EvidenceRecord, RecordedAnswer } from "@dataset-oracle/protocol/http-schemas/evidence";
import { ok } from "@dataset-oracle/protocol/result";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import { stackOf } from "@dataset-oracle/service/process/logger";
import type { RedirectedOrigins } from "@dataset-oracle/service/untrusted/egress";
import canonicalize from "canonicalize";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Decision } from "../decisions/decision-memory.js";
import type { FreshValue, ServedKey } from "../keys/served-keys.js";
import { HeldTexts } from "../source/held-texts.js";
import type { Reading } from "../source/source-failure.js";
import type { SourceRequest } from "../source/source-request.js";
import { describeSources } from "../value/combined-value.js";
import type { PairSource, PricePolicy } from "../value/spot-price.js";
import { bytesOf, headerOf, type Segment, segmentsIn, textLine } from "./segment.js";

interface EvidenceStoreSettings {
  readonly folder: string;
  /** The maximum size of all segments on the disk, in bytes. */
  readonly maxBytes: number;
  readonly policy: PricePolicy;
  readonly redirectedOrigins: RedirectedOrigins;
}

/** The maximum memory of the evidence that waits to be written, in bytes; further evidence is dropped. */
const MAX_WAITING = 64 * 1024 * 1024;

/** What a decision needs in memory besides its texts, in bytes. */
const ENTRY = 4_096;

/** How many hashes of texts are remembered. A text whose hash was forgotten is stored again. */
const MAX_HASHES = 10_000;

/** What the file system may need for an appended text besides its length, in bytes. */
const BLOCK = 4_096;

const compress = promisify(gzip);

/** A decision that waits to be written. */
interface KeptDecision extends Omit<FreshValue, "answers"> {
  readonly round: bigint;
  readonly decision: Decision;
  readonly answers: readonly { readonly request: SourceRequest; readonly reading: Reading<HashedText> }[];
}

/** A spec or an answer with its SHA-256. */
interface HashedText {
  readonly text: string;
  readonly hash: string;
}

/** By spec, or by answer: many decisions need the same. */
const HASHED = new WeakMap<object, HashedText>();

function hashOnce(owner: object, textOf: () => string): HashedText {
  const known = HASHED.get(owner);
  if (known !== undefined) return known;
  const text = textOf();
  const hashed = { text, hash: sha256(text) };
  HASHED.set(owner, hashed);
  return hashed;
}

/**
 * Stores everything that decisions are computed from, so that anyone can compute them again without a network. A
 * segment has a line for each decision and, before it and once each, the specs and answers that it needs, named by their
 * SHA-256. When the folder is full, the oldest segment is removed. A failure to write is logged and does not prevent
 * signing.
 */
export class EvidenceStore {
  /** The hashes of the specs and answers in the newest segment. */
  readonly #written = new LRUCache<string, true>({ max: MAX_HASHES });
  readonly #kept = new Set<Promise<void>>();
  #writing: Promise<void> = Promise.resolve();
  readonly #waitingTexts = new HeldTexts();
  /** The number of decisions that wait. */
  #waiting = 0;
  #isFailing = false;

  private constructor(
    private readonly logger: Logger,
    private readonly segments: readonly Segment[],
    private readonly settings: EvidenceStoreSettings,
  ) {}

  /** @throws When the folder cannot be created or read. */
  static async open(logger: Logger, settings: EvidenceStoreSettings): Promise<EvidenceStore> {
    await mkdir(settings.folder, { recursive: true });
    return new EvidenceStore(logger, await segmentsIn(settings.folder), settings);
  }

  /** Queues the evidence for a decision to be written, and returns at once. */
  keep(value: FreshValue, round: bigint, decision: Decision): void {
    const kept = this.#keep(value, round, decision)
      .catch((error: unknown) => this.#fail("evidence not written", stackOf(error)))
      .finally(() => this.#kept.delete(kept));
    this.#kept.add(kept);
  }

  /** Waits until everything is written. */
  async close(): Promise<void> {
    await Promise.all(this.#kept);
  }

  async #keep({ answers: read, ...value }: FreshValue, round: bigint, decision: Decision): Promise<void> {
    const answers = await Promise.all(
      [...read.values()].map(async ({ request, reading }) => {
        const answer = await reading;
        return { request, reading: answer.ok ? ok(hashOnce(answer.value, () => answer.value.text)) : answer };
      }),
    );
    const texts = answers.flatMap(({ reading }) => (reading.ok ? [reading.value.text] : []));
    this.#waiting += 1;
    this.#waitingTexts.count(texts, 1);
    try {
      // A character takes up to two bytes.
      if (ENTRY * this.#waiting + 2 * this.#waitingTexts.characters > MAX_WAITING) {
        this.#fail("evidence dropped: the disk is too slow");
        return;
      }
      const writing = this.#writing.then(() => this.#write({ ...value, round, decision, answers }));
      this.#writing = writing.catch(() => {});
      await writing;
    } finally {
      this.#waiting -= 1;
      this.#waitingTexts.count(texts, -1);
    }
  }

  async #write(entry: KeptDecision): Promise<void> {
    const { maxBytes } = this.settings;
    const texts = new Map<string, string>();
    const record = JSON.stringify(this.#recordOf(entry, texts));
    let segment = newestOf(this.segments);
    // It was begun by a former process, or removed meanwhile.
    segment.bytes = await bytesOf(segment.path);
    if (segment.bytes === 0) this.#begin(segment);
    let lines = await this.#linesFor(segment, record, texts);
    if (segment.bytes > 0 && segment.bytes + sizeOf(lines) > maxBytes / this.segments.length) {
      segment = oldestOf(this.segments);
      await remove(segment);
      this.#begin(segment);
      lines = await this.#linesFor(segment, record, texts);
    }
    if (sizeOf(lines) > maxBytes) throw new Error(`the evidence of one decision has ${sizeOf(lines)} bytes`);
    const others = this.segments.filter((other) => other !== segment && other.bytes > 0);
    while (others.length > 0 && totalOf(this.segments) + sizeOf(lines) > maxBytes) {
      const oldest = oldestOf(others);
      await remove(oldest);
      others.splice(others.indexOf(oldest), 1);
    }
    await appendFile(segment.path, lines);
    segment.bytes = await bytesOf(segment.path);
    for (const hash of texts.keys()) this.#written.set(hash, true);
    if (this.#isFailing) this.logger.info("evidence is written again");
    this.#isFailing = false;
  }

  /** Logs the first of several failures, because a full disk must not be filled further. */
  #fail(message: string, reason?: string): void {
    if (!this.#isFailing) this.logger.error({ reason }, message);
    this.#isFailing = true;
  }

  #begin(segment: Segment): void {
    segment.sequence = newestOf(this.segments).sequence + 1;
    this.#written.clear();
  }

  /** Returns what is appended. Each line follows its newline, so that none is appended to one that a crash has cut. */
  async #linesFor(segment: Segment, record: string, texts: ReadonlyMap<string, string>): Promise<string> {
    const missing = [...texts].filter(([hash]) => !this.#written.has(hash));
    const lines = await Promise.all(missing.map(async ([hash, text]) => textLine(hash, await compress(text))));
    return [segment.bytes === 0 ? headerOf(segment) : "", ...lines, record].join("\n");
  }

  /** @param texts Receives the specs and answers that the record names, by their hashes. */
  #recordOf(
    { dataPoint, value, at, answers, round, decision }: KeptDecision,
    texts: Map<string, string>,
  ): EvidenceRecord {
    const { dataset, key } = dataPoint;
    const store = ({ text, hash }: HashedText): string => {
      texts.set(hash, text);
      return hash;
    };
    return {
      version: 1,
      network_id: dataset.chainId,
      dataset: dataset.address,
      key: key.key,
      timestamp: Number(round),
      ...decision,
      at: String(at),
      ...this.#specsOf(key, store),
      overrides: this.settings.redirectedOrigins,
      answers: answers.map(({ request, reading }) => recordedAnswer(request, reading, store)),
      sources: describeSources(value.sources, dataset.kind),
    };
  }

  /** Returns the specs that say how the value is computed from the answers. */
  #specsOf(key: ServedKey, store: (text: HashedText) => string) {
    const storeSpec = (spec: object) => store(hashOnce(spec, () => canonicalize(spec) ?? ""));
    if (key.kind === "web_oracle") return { kind: key.kind, spec: storeSpec(key.compiled.spec) };
    const { minSources, maxDeviationBps, maxQuoteAge } = this.settings.policy;
    const specs = new Map(specsOf(key.sources).map((spec) => [spec.name, spec]));
    return {
      kind: key.kind,
      policy: { minSources, maxDeviationBps, maxQuoteAge },
      specs: [...specs.values()].map(storeSpec),
    };
  }
}

function recordedAnswer(
  request: SourceRequest,
  reading: Reading<HashedText>,
  store: (text: HashedText) => string,
): RecordedAnswer {
  const { method, url, headers = {}, body } = request;
  const asked = { method, url, headers, ...(body !== undefined && { body }) };
  return reading.ok
    ? { ...asked, text: store(reading.value), failure: null }
    : { ...asked, text: null, failure: reading.error };
}

const newestOf = (segments: readonly Segment[]) => segments.reduce((a, b) => (b.sequence > a.sequence ? b : a));
const oldestOf = (segments: readonly Segment[]) => segments.reduce((a, b) => (b.sequence < a.sequence ? b : a));
const totalOf = (segments: readonly Segment[]) => segments.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns what lines take on the disk at most. */
const sizeOf = (lines: string) => Buffer.byteLength(lines) + BLOCK;

async function remove(segment: Segment): Promise<void> {
  await rm(segment.path, { force: true });
  segment.sequence = 0;
  segment.bytes = 0;
}

/** Returns the specs of all sources that may be asked, for the value and for its rates. */
function specsOf(sources: readonly PairSource[]): PairSource["spec"][] {
  return sources.flatMap(({ spec, rate }) => [spec, ...(rate === null ? [] : specsOf(rate.sources))]);
}
