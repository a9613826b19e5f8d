import { createHash } from "node:crypto";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { ConfigError } from "@dataset-oracle/service/config";
import canonicalize from "canonicalize";
import type { Logger } from "pino";
import type { Decision } from "../decision-record.js";
import type { ServedKey } from "../read-value.js";
import type { AnswerText } from "../source/answer.js";
import type { SourceOverrides } from "../source/overrides.js";
import type { SourceRequest } from "../source/reader.js";
import type { Reading } from "../source/reading.js";
import type { PairSource, Policy } from "../spot-price.js";
import type { FreshValue } from "../value-reader.js";
import type { EvidenceRecord, RecordedAnswer } from "./record.js";

export interface EvidenceStoreOptions {
  readonly folder: string;
  /** The most bytes that the folder may hold. */
  readonly maxBytes: number;
  readonly policy: Policy;
  readonly overrides: SourceOverrides;
  readonly logger: Logger;
}

/** The seconds that share one folder, which is removed as a whole. */
const SPAN = 60n;

/** The most decisions whose evidence waits to be written; further evidence is dropped. */
const MAX_WAITING = 10_000;

/** Opens a file for writing, and fails for a symbolic link: what is overwritten is in the folder. */
const OWN_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

const compress = promisify(gzip);

/**
 * Stores what decisions were made of, so that anyone can compute them again without a network. Each minute's folder has
 * a file for each decision and, once each, the specs and answers that it needs, named by their SHA-256. When the folder
 * is full, the oldest minutes are removed. A failure to write is logged and does not prevent signing.
 */
export class EvidenceStore {
  /** The bytes of each minute's folder, the oldest first. */
  readonly #minutes: Map<string, number>;
  /** The names of the specs and answers in the newest minute's folder. */
  #written = new Set<string>();
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
    const minutes = names.toSorted((a, b) => Number(a) - Number(b)).map((name) => join(options.folder, name));
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

  async #write({ dataPoint, at, answers }: FreshValue, round: bigint, decision: Decision): Promise<void> {
    const { dataset, key } = dataPoint;
    const minute = join(this.options.folder, String(at - (at % SPAN)));
    if (!this.#minutes.has(minute)) {
      await mkdir(minute, { recursive: true });
      this.#minutes.set(minute, 0);
      this.#written = new Set();
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
      overrides: this.options.overrides,
      answers: await Promise.all(
        [...answers.values()].map(async ({ request, reading }) => this.#recorded(minute, request, await reading)),
      ),
    };
    const name = `${round}-${dataset.chainId}-${dataset.address}-${sha256(key.key).slice(0, 16)}.json`;
    await this.#put(minute, name, `${JSON.stringify(record, null, 2)}\n`);
    await this.#removeOldest();
  }

  /** Stores the specs by which the value was made of the answers. */
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
    if (reading.ok) {
      return {
        ...asked,
        text: await this.#store(minute, reading.value.text),
        failure: null,
        detail: null,
        retry_after: null,
      };
    }
    const { code: failure, detail, retryAfter = null } = reading.error;
    return { ...asked, text: null, failure, detail, retry_after: retryAfter };
  }

  /** Stores a text under its hash, unless it is there. */
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
    await writeFile(`${path}.new`, content, { flag: OWN_FILE });
    await rename(`${path}.new`, path);
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + content.length);
  }

  async #removeOldest(): Promise<void> {
    let total = [...this.#minutes.values()].reduce((sum, size) => sum + size, 0);
    for (const [minute, size] of this.#minutes) {
      if (total <= this.options.maxBytes || this.#minutes.size === 1) return;
      await rm(minute, { recursive: true, force: true });
      this.#minutes.delete(minute);
      total -= size;
    }
  }
}

/**
 * Checks that evidence could be stored in a folder, without creating it.
 *
 * @throws ConfigError
 */
export function checkEvidence(folder: string): void {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    // The separator at the end makes this fail for a file.
    accessSync(join(existing, sep), constants.W_OK);
  } catch (error) {
    throw unusableEvidence(folder, error);
  }
}

export const unusableEvidence = (folder: string, error: unknown) =>
  new ConfigError(
    `evidence: ${folder} cannot be used: ${(error as NodeJS.ErrnoException).code}. Check that it is a folder that this ` +
      "process may write.",
  );

/** Returns the specs of all sources that may be asked, for the value and for its rates. */
function specsOf(sources: readonly PairSource[]): PairSource["spec"][] {
  return sources.flatMap(({ spec, rate }) => [spec, ...(rate === null ? [] : specsOf(rate.sources))]);
}

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
