import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { ProblemError } from "@dataset-oracle/service/http-server/problem";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { RpcError } from "../chain/rpc-error.js";
import { FeedGasSpent } from "../gas-budget.js";
import type { Clock } from "../process-context.js";

/** A thing that feeds of a dataset depend on. All feeds share all of these but the last, which is one feed's key. */
export type Part = "chain" | "committee" | "rows" | "batches" | "sending" | Hex;

interface Trouble {
  /** In a row. */
  readonly failures: number;
  /** In milliseconds since 1970, like `retryAt`. */
  readonly since: number;
  readonly retryAt: number;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/**
 * Returns how long to wait after failures in a row: each doubles the wait, from a second to half a minute. Up to half of it
 * is left out at random, so that operators that failed together do not all come back together.
 *
 * @param random From 0 to 1.
 */
export function waitMsAfter(failures: number, random: number): number {
  const longest = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 30), LONGEST_WAIT_MS);
  return Math.round(longest * (1 - random / 2));
}

/** Remembers which parts fail, spaces the attempts, and logs each change of state once. */
export class FeedHealth {
  readonly #troubles = new Map<Part, Trouble>();

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  isFailing(part: Part): boolean {
    return this.#troubles.has(part);
  }

  /** Returns true if a part works as far as is known, or it is time to try it again. */
  isDue(part: Part): boolean {
    return this.clock() >= (this.#troubles.get(part)?.retryAt ?? 0);
  }

  failed(part: Part, error: unknown): void {
    const now = this.clock();
    const known = this.#troubles.get(part);
    // Updates that began together fail together: that is one failure.
    if (known !== undefined && now < known.retryAt) return;
    const failures = (known?.failures ?? 0) + 1;
    const atLeast = error instanceof FeedGasSpent ? error.retryAfterSeconds * 1000 : 0;
    const retryInMs = Math.max(waitMsAfter(failures, Math.random()), atLeast);
    this.#troubles.set(part, { failures, since: known?.since ?? now, retryAt: now + retryInMs });
    const { level, fields, message } = describe(error);
    this.log[known === undefined ? level : "debug"]({ ...nameOf(part), ...fields, failures, retryInMs }, message);
  }

  worked(part: Part): void {
    const trouble = this.#troubles.get(part);
    if (trouble === undefined) return;
    this.#troubles.delete(part);
    const { failures, since } = trouble;
    const seconds = Math.round((this.clock() - since) / 1000);
    this.log.info({ ...nameOf(part), failures, seconds }, "feed: works again");
  }
}

function nameOf(part: Part) {
  return part.startsWith("0x") ? { key: part, ascii: keyToAscii(part as Hex) } : { part };
}

function describe(error: unknown) {
  if (error instanceof RpcError) {
    return {
      level: "warn",
      fields: { method: error.method, reason: error.reason },
      message: "feed: RPC failed",
    } as const;
  }
  if (error instanceof FeedGasSpent) return { level: "warn", fields: {}, message: error.message } as const;
  if (error instanceof ProblemError) {
    const { code, detail, title } = error;
    const fix =
      code === "unknown_key" ? { fix: "Remove the key from feeds, or ask the providers' owners to serve it." } : {};
    // The node's own words, for an error that the dataset does not declare.
    const { cause } = error;
    const reason = cause instanceof RpcError ? { method: cause.method, reason: cause.reason } : {};
    return { level: "warn", fields: { code, detail, ...fix, ...reason }, message: `feed: ${title}` } as const;
  }
  return { level: "error", fields: { err: error }, message: "feed: update failed" } as const;
}
