import { err } from "@dataset-oracle/protocol/result";
import type { Clock } from "@dataset-oracle/service/process/context";
import type { ReportCaller } from "../callers/caller.js";
import { anonymousPart, type RateLimit, TokenBuckets } from "../callers/rate-limit.js";
import type { AnswerText } from "../source/judge-answer.js";
import type { Reading } from "../source/source-failure.js";
import type { CompiledRequest } from "./compile-spec.js";
import { MAX_KEY_STEPS, MAX_KEY_TEXT, type WebValueExtractor } from "./extract-values.js";
import type { ExtractionPool } from "./extraction-pool.js";
import type { WebOracleKey } from "./web-oracle-key-finder.js";

/** A unit of work is a step, a parsed character or a received byte, and takes between 0.005 and 0.2 microseconds. */
export const ANONYMOUS_WORK: RateLimit = { perSecond: 2_000_000, burst: 20_000_000 };
const OPERATOR_WORK: RateLimit = { perSecond: 10_000_000, burst: 100_000_000 };
/** The work of all keys of a spec, for all operators together, and for all other callers. */
export const SPEC_WORK: RateLimit = { perSecond: 2_000_000, burst: 20_000_000 };

/** The work that a job counts as when its worker failed. */
const FAILED_WORK = 10 * (MAX_KEY_TEXT + MAX_KEY_STEPS);

const RETRY_MS = 2_000;

/** What operators, or all other callers, may use. */
interface Allowances {
  readonly callers: TokenBuckets;
  readonly specs: TokenBuckets;
}

/** The spec of a key, and the key's arguments. */
type SpecKey = Pick<WebOracleKey, "specHash" | "args"> & { readonly compiled: Pick<CompiledRequest, "spec"> };

/**
 * Extracts the values of published specs within an allowance for each caller and one for each spec, so that no caller
 * and no spec can keep the workers to itself. An allowance never decides what a value is: once it is used up, nothing
 * is extracted.
 */
export class RateLimitedExtractor implements WebValueExtractor {
  readonly #anonymous: Allowances;
  readonly #operators: Allowances = { callers: new TokenBuckets(OPERATOR_WORK), specs: new TokenBuckets(SPEC_WORK) };

  /** @param hasReserve Gives anonymous callers only a part of each spec's allowance. */
  constructor(
    private readonly pool: Pick<ExtractionPool, "run">,
    private readonly clock: Pick<Clock, "monotonic">,
    hasReserve: boolean,
  ) {
    const specs = new TokenBuckets(hasReserve ? anonymousPart(SPEC_WORK) : SPEC_WORK);
    this.#anonymous = { callers: new TokenBuckets(ANONYMOUS_WORK), specs };
  }

  waitMs({ specHash }: SpecKey, { id, mayUseReserve }: ReportCaller): number {
    const now = this.clock.monotonic();
    const { callers, specs } = this.#allowancesOf(mayUseReserve);
    return Math.max(callers.waitMs(id, now), specs.waitMs(specHash, now));
  }

  chargesTo({ id, mayUseReserve }: ReportCaller) {
    const allowance = this.#allowancesOf(mayUseReserve).callers;
    const spend = (bytes: number) => {
      const now = this.clock.monotonic();
      if (allowance.waitMs(id, now) > 0) return false;
      allowance.spend(id, bytes, now);
      return true;
    };
    return { spend, readsOnlyOk: true };
  }

  async extract(key: SpecKey, answers: readonly Reading<AnswerText>[], caller: ReportCaller) {
    const wait = this.waitMs(key, caller);
    if (wait > 0) return err(wait);
    const { specHash, args, compiled } = key;
    const { id, mayUseReserve } = caller;
    const extraction = await this.pool.run({ specHash, args, spec: compiled.spec, answers }, mayUseReserve);
    if (extraction.ok || extraction.error === "failed") {
      const [work, now] = [extraction.ok ? extraction.value.work : FAILED_WORK, this.clock.monotonic()];
      const { callers, specs } = this.#allowancesOf(mayUseReserve);
      callers.spend(id, work, now);
      specs.spend(specHash, work, now);
    }
    return extraction.ok ? extraction : err(RETRY_MS);
  }

  #allowancesOf(mayUseReserve: boolean): Allowances {
    return mayUseReserve ? this.#operators : this.#anonymous;
  }
}
