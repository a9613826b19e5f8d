import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Clock } from "../../context.js";
import { NoQuorum, reachesQuorum } from "../../reports/quorum.js";
import { RpcError } from "../../rpc/rpc-error.js";
import { FeedGasSpent } from "../../transactions/gas-budget.js";

/** A thing that feeds of a dataset depend on. All feeds share all of these but the last, which is one feed's key. */
export type Dependency = "chain" | "committee" | "batches" | "sending" | Hex;

interface Trouble {
  /** In a row. */
  readonly failures: number;
  /** In milliseconds since 1970, like `retryAt`. */
  readonly since: number;
  readonly retryAt: number;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** One question to a committee that is silent costs little, and feeds have to be fresh again soon after it answers. */
const LONGEST_COMMITTEE_WAIT_MS = 5_000;

/**
 * Returns how long to wait after failures in a row: each doubles the wait, from a second up to a maximum. Up to half of it is
 * left out at random, so that operators that failed together do not all come back together.
 *
 * @param random From 0 to 1.
 */
export function backoffMsAfter(failures: number, random: number, maxMs = LONGEST_WAIT_MS): number {
  const longest = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), maxMs);
  return Math.round(longest * (1 - random / 2));
}

/** Remembers which dependencies fail, spaces the attempts, and logs each change of state once. */
export class FailureBackoff {
  readonly #troubles = new Map<Dependency, Trouble>();

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  isFailing(dependency: Dependency): boolean {
    return this.#troubles.has(dependency);
  }

  /** Returns true if a dependency works as far as is known, or it is time to try it again. */
  isDue(dependency: Dependency): boolean {
    return this.clock() >= (this.#troubles.get(dependency)?.retryAt ?? 0);
  }

  failed(dependency: Dependency, error: unknown): void {
    const now = this.clock();
    const known = this.#troubles.get(dependency);
    // Updates that began together fail together: that is one failure.
    if (known !== undefined && now < known.retryAt) return;
    const failures = (known?.failures ?? 0) + 1;
    const atLeast = error instanceof FeedGasSpent ? error.retryAfterSeconds * 1000 : 0;
    const maxMs = dependency === "committee" ? LONGEST_COMMITTEE_WAIT_MS : LONGEST_WAIT_MS;
    const retryInMs = Math.max(backoffMsAfter(failures, Math.random(), maxMs), atLeast);
    this.#troubles.set(dependency, { failures, since: known?.since ?? now, retryAt: now + retryInMs });
    const { level, fields, message } = describe(error);
    this.log[known === undefined ? level : "debug"]({ ...nameOf(dependency), ...fields, failures, retryInMs }, message);
  }

  worked(...dependencies: readonly Dependency[]): void {
    for (const dependency of dependencies) {
      const trouble = this.#troubles.get(dependency);
      if (trouble === undefined) continue;
      this.#troubles.delete(dependency);
      const { failures, since } = trouble;
      const seconds = Math.round((this.clock() - since) / 1000);
      this.log.info({ ...nameOf(dependency), failures, seconds }, "feed: works again");
    }
  }
}

function nameOf(dependency: Dependency) {
  return dependency.startsWith("0x") ? { key: dependency, ascii: keyToAscii(dependency as Hex) } : { dependency };
}

/** What the operator's owner can do. */
const FIXES: Readonly<Record<string, string>> = {
  out_of_funds: "Fund the sender.",
  fees_too_high: "Wait until gas is cheaper, or raise the setting.",
  signer_failed: "Look at the signer and its own log.",
  unknown_key: "Remove the key from feeds, or ask the providers' owners to serve it.",
};

/** The problems whose details advise callers. */
const CALLERS_ADVISED = ["out_of_funds", "fees_too_high", "signer_failed", "rpc_failed", "rpc_timeout"];

function describe(error: unknown) {
  if (error instanceof FeedGasSpent) return { level: "warn", fields: {}, message: error.message } as const;
  if (!(error instanceof ProblemError))
    return { level: "error", fields: { err: error }, message: "feed: update failed" } as const;
  const { code, title, detail, logFields } = error;
  const fix = FIXES[code];
  const advice = { ...(!CALLERS_ADVISED.includes(code) && { detail }), ...(fix !== undefined && { fix }) };
  return { level: "warn", fields: { code, ...advice, ...logFields }, message: `feed: ${title}` } as const;
}

/** How much a failed update says about others: all that need the same committee or sender fail too, or only this one. */
export type FailureScope = "committee" | "sending" | "update";

const SENDING_PROBLEMS = ["out_of_funds", "fees_too_high", "signer_failed", "shutting_down"];

/**
 * Decides whether the keys of a batch that failed can succeed one by one. When the committee is silent or the sender cannot
 * send, asking for each would multiply the load and change nothing.
 */
export function isWorthSplitting(error: unknown): boolean {
  // The rest of the gas budget can be enough for some of the keys.
  return failureScopeOf(error) === "update" || error instanceof FeedGasSpent;
}

/** Decides how far a failure reaches. */
export function failureScopeOf(error: unknown): FailureScope {
  if (error instanceof FeedGasSpent) return "sending";
  if (error instanceof RpcError) return error.kind === "refused" ? "update" : "sending";
  if (error instanceof NoQuorum) return isCommitteeDown(error) ? "committee" : "update";
  return error instanceof ProblemError && SENDING_PROBLEMS.includes(error.code) ? "sending" : "update";
}

/** Reports whether so many members gave no usable answer that no update can reach a quorum. */
function isCommitteeDown({ members, failures }: NoQuorum): boolean {
  const silent = failures.filter(({ refuses }) => refuses === null).length;
  return !reachesQuorum(members - silent, members);
}
