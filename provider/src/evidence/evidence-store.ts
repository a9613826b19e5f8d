import { createHash } from "node:crypto";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ReportRequest, SignedReport } from "@dataset-oracle/protocol/wire";
import { ConfigError } from "@dataset-oracle/service/config";
import canonicalize from "canonicalize";
import type { Logger } from "pino";
import type { Answer } from "../source/answer.js";
import type { SourceRequest } from "../source/reader.js";
import type { Reading } from "../source/reading.js";
import type { SourceOverrides } from "../source-overrides.js";
import type { PairSource, Policy } from "../spot-price.js";
import type { RequestSpec } from "../web-oracle/request-spec.js";
import type { EvidenceRecord, RecordedAnswer } from "./record.js";
import type { RecordingReader } from "./recording-reader.js";

/** A decision, and the answers that it was made of. */
interface DecidedReading extends ReportRequest, Pick<SignedReport, "outcome" | "value"> {
  readonly at: bigint;
  readonly answers: RecordingReader["answers"];
}

export interface SpotPriceReading extends DecidedReading {
  readonly kind: "spot_price";
  readonly policy: Policy;
  readonly sources: readonly PairSource[];
}

export interface WebOracleReading extends DecidedReading {
  readonly kind: "web_oracle";
  readonly spec: RequestSpec;
}

/** What was read, and what was made of it. */
export type ReadingEvidence = SpotPriceReading | WebOracleReading;

export interface EvidenceStoreOptions {
  readonly folder: string;
  /** The most that the folder may hold, in bytes. */
  readonly maxBytes: number;
  readonly overrides: SourceOverrides;
  readonly logger: Logger;
}

/** Seconds whose evidence lies in one folder, and goes at once. */
const SPAN = 60n;

/** Readings whose evidence waits to be written; more are not kept. */
const MAX_WAITING = 10_000;

const compress = promisify(gzip);

/**
 * Keeps what was read, so that anybody can compute the values again without a network: in each minute's folder a file
 * for each decision, and beside it each spec and answer once, named by its SHA-256. When there is more than is to be
 * kept, the oldest minutes go. What cannot be written is logged, and keeps nobody from signing.
 */
export class EvidenceStore {
  readonly #options: EvidenceStoreOptions;
  /** Bytes, by minute; the oldest first. */
  readonly #minutes: Map<string, number>;
  /** What is there of the newest minute. */
  #written = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;

  private constructor(options: EvidenceStoreOptions, minutes: Map<string, number>) {
    this.#options = options;
    this.#minutes = minutes;
  }

  /** @throws When the folder cannot be made or read. */
  static async open(options: EvidenceStoreOptions): Promise<EvidenceStore> {
    await mkdir(options.folder, { recursive: true });
    const names = (await readdir(options.folder)).filter((name) => /^\d{1,20}$/.test(name));
    const minutes = names.toSorted((a, b) => Number(a) - Number(b)).map((name) => join(options.folder, name));
    const sizes = await Promise.all(minutes.map(sizeOf));
    return new EvidenceStore(options, new Map(minutes.map((path, i) => [path, sizes[i] ?? 0])));
  }

  /** Keeps the evidence of a decision; it is on disk a little later. */
  keep(evidence: ReadingEvidence): void {
    if (this.#waiting >= MAX_WAITING) {
      this.#options.logger.warn("evidence dropped: the disk is too slow");
      return;
    }
    this.#waiting += 1;
    this.#writing = this.#writing
      .then(() => this.#write(evidence))
      .catch((error: Error) => this.#options.logger.error({ err: error }, "evidence not written"))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Waits until all is written. */
  close(): Promise<void> {
    return this.#writing;
  }

  async #write(reading: ReadingEvidence): Promise<void> {
    const { network_id, dataset, key, timestamp, outcome, value, at, answers } = reading;
    const minute = join(this.#options.folder, String(at - (at % SPAN)));
    if (!this.#minutes.has(minute)) {
      await mkdir(minute, { recursive: true });
      this.#minutes.set(minute, 0);
      this.#written = new Set();
    }
    const record: EvidenceRecord = {
      version: 1,
      ...{ network_id, dataset, key, timestamp, outcome, value },
      at: String(at),
      ...(await this.#basis(minute, reading)),
      overrides: this.#options.overrides,
      answers: await Promise.all(
        [...answers.values()].map(async ({ request, reading }) => this.#recorded(minute, request, await reading)),
      ),
    };
    const name = `${timestamp}-${network_id}-${dataset}-${sha256(key).slice(0, 16)}.json`;
    await this.#put(minute, name, `${JSON.stringify(record, null, 2)}\n`);
    await this.#removeOldest();
  }

  /** What says how a value is made of the answers. */
  async #basis(minute: string, reading: ReadingEvidence) {
    const { kind } = reading;
    if (kind === "web_oracle") return { kind, spec: await this.#store(minute, canonicalize(reading.spec) ?? "") };
    const { minSources, maxDeviationBps, maxQuoteAge } = reading.policy;
    const specs = new Map(specsOf(reading.sources).map((spec) => [spec.name, spec]));
    return {
      kind,
      policy: { minSources, maxDeviationBps, maxQuoteAge },
      specs: await Promise.all([...specs.values()].map((spec) => this.#store(minute, canonicalize(spec) ?? ""))),
    };
  }

  async #recorded(minute: string, request: SourceRequest, reading: Reading<Answer>): Promise<RecordedAnswer> {
    const { method, url, headers = {}, body } = request;
    const asked = { method, url, headers, ...(body !== undefined && { body }) };
    if (reading.ok) {
      return {
        ...asked,
        text: await this.#store(minute, reading.value.text),
        failure: null,
        detail: null,
        retry_after: null,
      };
    }
    const { failure, detail, retryAfter = null } = reading;
    return { ...asked, text: null, failure, detail, retry_after: retryAfter };
  }

  /** Puts a text where its hash says. */
  async #store(minute: string, text: string): Promise<string> {
    const hash = sha256(text);
    const name = `${hash}.gz`;
    if (!this.#written.has(name)) {
      this.#written.add(name);
      await this.#put(minute, name, await compress(text));
    }
    return hash;
  }

  async #put(minute: string, name: string, content: string | Buffer): Promise<void> {
    const path = join(minute, name);
    await writeFile(`${path}.new`, content);
    await rename(`${path}.new`, path);
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + content.length);
  }

  async #removeOldest(): Promise<void> {
    let total = [...this.#minutes.values()].reduce((sum, size) => sum + size, 0);
    for (const [minute, size] of this.#minutes) {
      if (total <= this.#options.maxBytes || this.#minutes.size === 1) return;
      await rm(minute, { recursive: true, force: true });
      this.#minutes.delete(minute);
      total -= size;
    }
  }
}

/**
 * Checks that evidence could be kept in a folder, without making it.
 *
 * @throws ConfigError
 */
export function checkEvidence(folder: string): void {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    // A file has nothing in it, not even itself.
    accessSync(join(existing, sep), constants.W_OK);
  } catch (error) {
    throw unusableEvidence(folder, error);
  }
}

export const unusableEvidence = (folder: string, error: unknown) =>
  new ConfigError(`evidence: ${folder} cannot be used: ${(error as NodeJS.ErrnoException).code}.`);

/** The specs of all that may be asked: for the value, and for the rates. */
function specsOf(sources: readonly PairSource[]): PairSource["spec"][] {
  return sources.flatMap(({ spec, rate }) => [spec, ...(rate === null ? [] : specsOf(rate.sources))]);
}

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
