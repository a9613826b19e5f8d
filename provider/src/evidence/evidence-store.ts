import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { EvidenceRecord, RecordedAnswer } from "@dataset-oracle/protocol/http-schemas/evidence";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { RedirectedOrigins } from "@dataset-oracle/service/egress/egress";
import canonicalize from "canonicalize";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { describeSources, type ValueWithSources } from "../combined-value.js";
import type { Decision } from "../decisions/decision-memory.js";
import type { DataPoint, ServedDataset, ServedKey } from "../served-keys.js";
import type { Answer, AnswerText } from "../source/judge-answer.js";
import type { Reading } from "../source/source-failure.js";
import type { SourceReader } from "../source/source-reader.js";
import { type FileRequest, requestId, type SourceRequest } from "../source/source-request.js";
import type { PairSource, PricePolicy } from "../spot-price.js";
import { writeFileAtomically } from "../write-file-atomically.js";

/** Reads sources for one value: makes each request once, however often it is needed, and records the answers. */
export class RecordingReader {
  /** By `requestId`. */
  readonly answers = new Map<
    string,
    { readonly request: SourceRequest; readonly reading: Promise<Reading<AnswerText>> }
  >();

  constructor(private readonly reader: Pick<SourceReader, "read">) {}

  read(request: FileRequest, mayUseReserve: boolean): Promise<Reading<Answer>>;
  read(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>>;
  read(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>> {
    const id = requestId(request);
    const known = this.answers.get(id);
    if (known !== undefined) return known.reading;
    const reading = this.reader.read(request, mayUseReserve);
    this.answers.set(id, { request, reading });
    return reading;
  }
}

/** A data point's value as it was just read. */
export interface FreshValue {
  readonly dataPoint: DataPoint;
  readonly value: ValueWithSources;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
  /** The answers that the value was computed from. */
  readonly answers: RecordingReader["answers"];
}

interface EvidenceStoreOptions {
  readonly folder: string;
  /** The maximum size of the folder, in bytes. */
  readonly maxBytes: number;
  readonly policy: PricePolicy;
  readonly redirectedOrigins: RedirectedOrigins;
  readonly logger: Logger;
}

/** The number of seconds whose evidence shares one folder, which is removed as a whole. */
const SPAN = 60n;

/** The maximum number of decisions whose evidence waits to be written; further evidence is dropped. */
const MAX_WAITING = 10_000;

/** How many minutes may still be written to: a slow reading may be written after faster ones of the next minute. */
const OPEN_MINUTES = 3;

const compress = promisify(gzip);

/**
 * Stores everything that decisions are computed from, so that anyone can compute them again without a network. Each
 * minute's folder has a file for each decision and, once each, the specs and answers that it needs, named by their
 * SHA-256. When the folder is full, the oldest minutes are removed. A failure to write is logged and does not prevent
 * signing.
 */
export class EvidenceStore {
  /** The size of each minute's folder in bytes. */
  readonly #minutes: Map<string, number>;
  /** The names of the specs and answers in the folders of the newest minutes. */
  readonly #written = new LRUCache<string, Set<string>>({ max: OPEN_MINUTES });
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;

  private constructor(
    private readonly options: EvidenceStoreOptions,
    minutes: Map<string, number>,
  ) {
    this.#minutes = minutes;
  }

  /** @throws When the folder cannot be created or read. */
  static async open(options: EvidenceStoreOptions): Promise<EvidenceStore> {
    await mkdir(options.folder, { recursive: true });
    const names = (await readdir(options.folder)).filter((name) => /^\d{1,20}$/.test(name));
    const minutes = names.map((name) => join(options.folder, name));
    const sizes = await Promise.all(minutes.map(sizeOf));
    return new EvidenceStore(options, new Map(minutes.map((path, i) => [path, sizes[i] ?? 0])));
  }

  /** Queues the evidence for a decision to be written, and returns at once. */
  keep(value: FreshValue, round: bigint, decision: Decision): void {
    if (this.#waiting >= MAX_WAITING) {
      this.options.logger.warn("evidence dropped: the disk is too slow");
      return;
    }
    this.#waiting += 1;
    this.#writing = this.#writing
      .then(() => this.#write(value, round, decision))
      .catch((error: Error) => this.options.logger.error({ err: error }, "evidence not written"))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Waits until everything is written. */
  close(): Promise<void> {
    return this.#writing;
  }

  async #write({ dataPoint, value, at, answers }: FreshValue, round: bigint, decision: Decision): Promise<void> {
    const { dataset, key } = dataPoint;
    const minute = join(this.options.folder, String(minuteOf(at)));
    if (!this.#minutes.has(minute)) {
      await mkdir(minute, { recursive: true });
      this.#minutes.set(minute, 0);
    }
    const record: EvidenceRecord = {
      version: 1,
      network_id: dataset.chainId,
      dataset: dataset.address,
      key: key.key,
      timestamp: Number(round),
      ...decision,
      at: String(at),
      ...(await this.#storeSpecs(minute, key)),
      overrides: this.options.redirectedOrigins,
      answers: await Promise.all(
        [...answers.values()].map(async ({ request, reading }) => this.#recorded(minute, request, await reading)),
      ),
      sources: describeSources(value.sources, dataset.kind),
    };
    await this.#put(minute, fileNameOf(dataset, key.key, round), `${JSON.stringify(record, null, 2)}\n`);
    await this.#removeOldest();
  }

  /** Stores the specs that say how the value is computed from the answers. */
  async #storeSpecs(minute: string, key: ServedKey) {
    if (key.kind === "web_oracle") {
      return { kind: key.kind, spec: await this.#store(minute, canonicalize(key.compiled.spec) ?? "") };
    }
    const { minSources, maxDeviationBps, maxQuoteAge } = this.options.policy;
    const specs = new Map(specsOf(key.sources).map((spec) => [spec.name, spec]));
    return {
      kind: key.kind,
      policy: { minSources, maxDeviationBps, maxQuoteAge },
      specs: await Promise.all([...specs.values()].map((spec) => this.#store(minute, canonicalize(spec) ?? ""))),
    };
  }

  async #recorded(minute: string, request: SourceRequest, reading: Reading<AnswerText>): Promise<RecordedAnswer> {
    const { method, url, headers = {}, body } = request;
    const asked = { method, url, headers, ...(body !== undefined && { body }) };
    if (!reading.ok) return { ...asked, text: null, failure: reading.error };
    return { ...asked, text: await this.#store(minute, reading.value.text), failure: null };
  }

  /** Stores a text under its hash, unless it is already there. */
  async #store(minute: string, text: string): Promise<string> {
    const hash = sha256(text);
    const name = `${hash}.gz`;
    const written = this.#written.get(minute) ?? new Set();
    this.#written.set(minute, written);
    if (!written.has(name)) {
      written.add(name);
      await this.#put(minute, name, await compress(text));
    }
    return hash;
  }

  async #put(minute: string, name: string, content: string | Buffer): Promise<void> {
    await writeFileAtomically(join(minute, name), content);
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + content.length);
  }

  async #removeOldest(): Promise<void> {
    let total = [...this.#minutes.values()].reduce((sum, size) => sum + size, 0);
    if (total <= this.options.maxBytes) return;
    // A slow reading may have opened an old minute again after newer ones.
    for (const [minute, size] of [...this.#minutes].toSorted(([a], [b]) => Number(basename(a)) - Number(basename(b)))) {
      if (total <= this.options.maxBytes || this.#minutes.size === 1) return;
      await rm(minute, { recursive: true, force: true });
      this.#minutes.delete(minute);
      this.#written.delete(minute);
      total -= size;
    }
  }
}

const minuteOf = (time: bigint) => time - (time % SPAN);

const fileNameOf = ({ chainId, address }: ServedDataset, key: string, round: bigint) =>
  `${round}-${chainId}-${address}-${sha256(key).slice(0, 16)}.json`;

/** Returns the specs of all sources that may be asked, for the value and for its rates. */
function specsOf(sources: readonly PairSource[]): PairSource["spec"][] {
  return sources.flatMap(({ spec, rate }) => [spec, ...(rate === null ? [] : specsOf(rate.sources))]);
}

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
