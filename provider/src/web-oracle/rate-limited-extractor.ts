import { err, type Result } from "@dataset-oracle/protocol/result";
import type { Hex } from "viem";
import type { Caller } from "../caller.js";
import { type RateLimit, TokenBuckets } from "../rate-limit.js";
import { MAX_KEY_STEPS, MAX_KEY_TEXT, type WebValueExtractor } from "./extract-values.js";
import type { ExtractionPool } from "./extraction-pool.js";
import type { Extraction, ExtractionJob } from "./extraction-worker.js";

/** A unit of work is a step or a parsed character, and takes a worker between 0.02 and 0.2 microseconds. */
export const ANONYMOUS_WORK: RateLimit = { perSecond: 2_000_000, burst: 20_000_000 };
const OPERATOR_WORK: RateLimit = { perSecond: 10_000_000, burst: 100_000_000 };
/** The work of all keys of a spec, for all callers together. */
export const SPEC_WORK: RateLimit = { perSecond: 2_000_000, burst: 20_000_000 };

/** The work that a job counts as when its worker failed. */
const FAILED_WORK = 10 * (MAX_KEY_TEXT + MAX_KEY_STEPS);

const RETRY_MS = 2_000;

/**
 * Extracts the values of published specs within an allowance for each caller and one for each spec, so that no caller
 * and no spec can keep the workers to itself. An allowance never decides what a value is: once it is used up, nothing
 * is extracted.
 */
export class RateLimitedExtractor {
  readonly #now: () => number;
  readonly #anonymous = new TokenBuckets(ANONYMOUS_WORK);
  readonly #operators = new TokenBuckets(OPERATOR_WORK);
  readonly #specs: TokenBuckets;

  /**
   * @param hasReserve Reserves half of each spec's burst for reserved callers.
   * @param now A clock in milliseconds.
   */
  constructor(
    private readonly pool: Pick<ExtractionPool, "run">,
    hasReserve: boolean,
    now = () => performance.now(),
  ) {
    this.#now = now;
    this.#specs = new TokenBuckets(SPEC_WORK, hasReserve);
  }

  /** Returns after how many milliseconds a caller may have a key of a spec extracted; 0 for now. */
  waitMs({ id, mayUseReserve }: Caller, specHash: Hex): number {
    const now = this.#now();
    const ofCaller = this.#allowanceOf(mayUseReserve).waitMs(id, now);
    return Math.max(ofCaller, this.#specs.waitMs(specHash, now, mayUseReserve));
  }

  /** Extracts a key's values, or returns after how many milliseconds to try again. */
  async extract(job: ExtractionJob, caller: Caller): Promise<Result<Extraction, number>> {
    const wait = this.waitMs(caller, job.specHash);
    if (wait > 0) return err(wait);
    const extraction = await this.pool.run(job, caller.mayUseReserve);
    if (extraction.ok) this.#spend(job, caller, extraction.value.work);
    else if (extraction.error === "failed") this.#spend(job, caller, FAILED_WORK);
    return extraction.ok ? extraction : err(RETRY_MS);
  }

  #spend({ specHash }: ExtractionJob, { id, mayUseReserve }: Caller, work: number): void {
    const now = this.#now();
    this.#allowanceOf(mayUseReserve).spend(id, work, now);
    this.#specs.spend(specHash, work, now);
  }

  #allowanceOf(mayUseReserve: boolean): TokenBuckets {
    return mayUseReserve ? this.#operators : this.#anonymous;
  }
}

/** Extracts within the allowances of a caller. */
export const extractFor = (extractor: RateLimitedExtractor, caller: Caller): WebValueExtractor => ({
  waitMs: ({ specHash }) => extractor.waitMs(caller, specHash),
  extract: ({ specHash, args, compiled: { spec } }, answers) =>
    extractor.extract({ specHash, spec, args, answers }, caller),
});
