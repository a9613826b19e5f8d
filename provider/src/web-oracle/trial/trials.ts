import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type {
  SpecTrial,
  SpecTrialRequest,
  TrialFailure,
  TrialSource,
} from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { Egress } from "@dataset-oracle/service/egress/egress";
import { type Address, numberToHex } from "viem";
import type { Caller } from "../../caller.js";
import { type CombinedValue, OUTCOMES } from "../../combined-value.js";
import { printable } from "../../printable.js";
import { hostNotAllowed, trialsBusy } from "../../problems.js";
import type { RateLimit } from "../../rate-limit-schema.js";
import type { Reading, SourceFailure } from "../../source/source-failure.js";
import { TokenBucket } from "../../token-bucket.js";
import { type AllowedHosts, isHostAllowed } from "../allowed-hosts.js";
import type { CompiledRequest } from "../compile-spec.js";
import type { Extraction } from "../extraction-worker.js";
import { type AskedSource, askSources } from "../fetch-source-answers.js";
import type { RateLimitedExtractor } from "../rate-limited-extractor.js";
import { valueText } from "../value-text.js";
import { checkTriedSpec, type TriedSpec } from "./check-tried-spec.js";
import { howToFix } from "./how-to-fix.js";

/** The maximum number of trials at a time, because each may hold answers of a megabyte for each source. */
const MAX_AT_ONCE = 8;
/** The wait that callers are told when that many trials are running, in seconds. */
const RETRY_AFTER = 1;

const MAX_MESSAGE = 400;
const MAX_REASON = 300;
/** Both are applied after escaping, which makes text longer. */
const MAX_SHOWN = 200;
const MAX_VALUE = 300;

interface TrialsParts {
  /** The rules of trials, and those of published specs, both of which apply. */
  readonly rules: readonly AllowedHosts[];
  /** The requests that all trials together may make. */
  readonly rateLimit: RateLimit;
  /** It has no secrets, so that none is sent with a request of a stranger's spec. */
  readonly egress: Pick<Egress, "fetchText">;
  /** It has allowances of its own, so that trials do not use up those of reports. */
  readonly extractor: Pick<RateLimitedExtractor, "extract" | "waitMs">;
  /** Reserves half of the budget for reserved callers. */
  readonly hasReserve: boolean;
  readonly provider: Address;
  /** A clock in milliseconds. */
  readonly now?: () => number;
}

/**
 * Tries specs that anyone may have written, with the engine that reads published ones. It signs and stores nothing,
 * shares no answers and no back-off with reports, and has its own budget.
 */
export class Trials {
  readonly #budget: TokenBucket;
  readonly #now: () => number;
  #atOnce = 0;

  constructor(private readonly parts: TrialsParts) {
    const { rateLimit, hasReserve, now = () => performance.now() } = parts;
    this.#budget = new TokenBucket(rateLimit, hasReserve);
    this.#now = now;
  }

  /**
   * Asks a spec's sources now, and shows each step to the value.
   *
   * @throws ProblemError when the spec is wrong, or cannot be tried now.
   */
  async run(request: SpecTrialRequest, caller: Caller): Promise<SpecTrial> {
    const tried = checkTriedSpec(request);
    const { rules } = this.parts;
    const forbidden = tried.compiled.hosts.find((host) => !rules.every((hosts) => isHostAllowed(host, hosts)));
    if (forbidden !== undefined) throw hostNotAllowed(forbidden, "trials");
    const waitMs = this.#waitMs(tried, caller);
    if (waitMs > 0) throw trialsBusy(Math.ceil(waitMs / 1_000));
    if (this.#atOnce >= MAX_AT_ONCE) throw trialsBusy(RETRY_AFTER);
    this.#budget.spend(tried.bound.sources.length, this.#now());
    this.#atOnce += 1;
    try {
      return await this.#run(tried, caller);
    } finally {
      this.#atOnce -= 1;
    }
  }

  #waitMs({ bound, hash }: TriedSpec, caller: Caller): number {
    const budgetWaitMs = this.#budget.waitMs(this.#now(), caller.mayUseReserve, bound.sources.length);
    return Math.max(budgetWaitMs, this.parts.extractor.waitMs(withoutReserve(caller), hash));
  }

  async #run(tried: TriedSpec, caller: Caller): Promise<SpecTrial> {
    const { hash: specHash, compiled, bound, args } = tried;
    const asked = await askSources(bound, this.parts.egress);
    const answers = asked.map(({ judged }) => judged);
    const job = { specHash, spec: compiled.spec, args, answers };
    const extracted = await this.parts.extractor.extract(job, withoutReserve(caller));
    if (!extracted.ok) throw trialsBusy(Math.ceil(extracted.error / 1_000));
    return showTrial(tried, this.parts.provider, { asked, extracted: extracted.value });
  }
}

/** The caller as the pool of workers sees it: no trial has the priority of a reserved caller's report. */
const withoutReserve = ({ id }: Caller): Caller => ({ id, mayUseReserve: false });

/** The results of each step, for each source. */
interface Steps {
  readonly asked: readonly AskedSource[];
  readonly extracted: Extraction;
}

function showTrial(tried: TriedSpec, provider: Address, steps: Steps): SpecTrial {
  const { compiled, bound, bytes, hash, key } = tried;
  const { spec, kind, type } = compiled;
  const { readings } = steps.extracted;
  const combined = bound.combine(readings);
  const value = combined.kind === "value" ? combined.value : null;
  return {
    provider,
    spec_hash: hash,
    spec_bytes: bytes,
    kind,
    type,
    key: keyToAscii(key) ?? key,
    key_hex: key,
    sources: readings.map((_, index) => showSource(tried, index, steps)),
    combined: {
      how: spec.combine,
      min_sources: spec.minSources,
      with_value: readings.filter(({ ok }) => ok).length,
      status: OUTCOMES[combined.kind],
      reason: reasonOf(combined),
      value: value === null ? null : formatValue(kind, value),
      text: value === null ? null : showValue(compiled, value),
    },
    output: value === null ? null : numberToHex(value, { size: 32 }),
  };
}

function reasonOf(combined: CombinedValue): string | null {
  if (combined.kind === "value") return null;
  const text =
    combined.kind === "none"
      ? combined.reason
      : `sources are at their rate limits; try again in ${combined.retryAfter} s`;
  return text.slice(0, MAX_REASON);
}

function showSource({ compiled, bound }: TriedSpec, index: number, steps: Steps): TrialSource {
  const { request } = bound.sources[index] as (typeof bound.sources)[number];
  const { answer, judged, ms } = steps.asked[index] as AskedSource;
  const reading = steps.extracted.readings[index] as Reading<bigint>;
  const text = answer.ok ? answer.value.text : null;
  const selected = steps.extracted.selected[index] ?? null;
  const step = !judged.ok ? "fetched" : selected === null ? "selected" : "scaled";
  return {
    name: `/sources/${index}`,
    fetched: {
      method: request.method,
      url: request.url,
      status: answer.ok ? answer.value.status : null,
      bytes: text === null ? null : Buffer.byteLength(text),
      sha256: text === null ? null : sha256(text),
      ms,
    },
    selected:
      selected === null
        ? null
        : { path: compiled.spec.sources[index]?.path ?? "", text: printable(selected).slice(0, MAX_SHOWN) },
    scaled: reading.ok
      ? { value: formatValue(compiled.kind, reading.value), text: showValue(compiled, reading.value) }
      : null,
    error: reading.ok ? null : showFailure(reading.error, step),
  };
}

const showValue = (compiled: CompiledRequest, value: bigint) =>
  printable(valueText(compiled, value)).slice(0, MAX_VALUE);

function showFailure({ code, detail }: SourceFailure, step: TrialFailure["step"]): TrialFailure {
  return { step, code, message: printable(detail).slice(0, MAX_MESSAGE), fix: howToFix(code, step) };
}
