import { err } from "@dataset-oracle/protocol/result";
import type { Caller } from "../caller.js";
import { type RateLimit, TokenBuckets } from "../rate-limit.js";
import type { AnswerText } from "../source/judge-answer.js";
import type { Reading } from "../source/source-failure.js";
import type { CompiledRequest } from "./compile-spec.js";
import { MAX_KEY_STEPS, MAX_KEY_TEXT, type WebValueExtractor } from "./extract-values.js";
import type { ExtractionPool } from "./extraction-pool.js";
import type { WebOracleKey } from "./web-oracle-key-finder.js";

/** A unit of work is a step, a parsed character or a received byte, and takes between 0.005 and 0.2 microseconds. */
export const ANONYMOUS_WORK: RateLimit = { perSecond: 2_000_000, burst: 20_000_000 };
const OPERATOR_WORK: RateLimit = { perSecond: 10_000_000, burst: 100_000_000 };
/** The work of all keys of a spec, for all callers together. */
export const SPEC_WORK: RateLimit = { perSecond: 2_000_000, burst: 20_000_000 };

/** The work that a job counts as when its worker failed. */
const FAILED_WORK = 10 * (MAX_KEY_TEXT + MAX_KEY_STEPS);

const RETRY_MS = 2_000;

/** The spec of a key, and the key's arguments. */
type SpecKey = Pick<WebOracleKey, "specHash" | "args"> & { readonly compiled: Pick<CompiledRequest, "spec"> };

/**
 * Extracts the values of published specs within an allowance for each caller and one for each spec, so that no caller
 * and no spec can keep the workers to itself. An allowance never decides what a value is: once it is used up, nothing
 * is extracted.
 */
export class RateLimitedExtractor implements WebValueExtractor {
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
    private readonly now = () => performance.now(),
  ) {
    this.#specs = new TokenBuckets(SPEC_WORK, hasReserve);
  }

  waitMs({ specHash }: SpecKey, { id, mayUseReserve }: Caller): number {
    const now = this.now();
    const ofCaller = this.#allowanceOf(mayUseReserve).waitMs(id, now);
    return Math.max(ofCaller, this.#specs.waitMs(specHash, now, mayUseReserve));
  }

  chargesTo({ id, mayUseReserve }: Caller) {
    const allowance = this.#allowanceOf(mayUseReserve);
    const spend = (bytes: number) => {
      const now = this.now();
      if (allowance.waitMs(id, now) > 0) return false;
      allowance.spend(id, bytes, now);
      return true;
    };
    return { spend, readsOnlyOk: true };
  }

  async extract(key: SpecKey, answers: readonly Reading<AnswerText>[], caller: Caller) {
    const wait = this.waitMs(key, caller);
    if (wait > 0) return err(wait);
    const { specHash, args, compiled } = key;
    const { id, mayUseReserve } = caller;
    const extraction = await this.pool.run({ specHash, args, spec: compiled.spec, answers }, mayUseReserve);
    if (extraction.ok || extraction.error === "failed") {
      const [work, now] = [extraction.ok ? extraction.value.work : FAILED_WORK, this.now()];
      this.#allowanceOf(mayUseReserve).spend(id, work, now);
      this.#specs.spend(specHash, work, now);
    }
    return extraction.ok ? extraction : err(RETRY_MS);
  }

  #allowanceOf(mayUseReserve: boolean): TokenBuckets {
    return mayUseReserve ? this.#operators : this.#anonymous;
  }
}
