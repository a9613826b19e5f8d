import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { type BackOffBounds, backOffMs, type Context } from "@dataset-oracle/service/process/context";
import { stackOf } from "@dataset-oracle/service/process/logger";
import type { Logger } from "pino";
import type { Address, Hex } from "viem";
import { NoQuorum, reachesQuorum } from "../../reports/quorum.js";
import { problemOf } from "../../routes/problems.js";
import { RpcError } from "../../rpc/rpc-error.js";
import { isNotSent, NotSent, type SendingFault } from "../../transactions/not-sent.js";
import { KeyNotServed } from "../../update/builder.js";

/** A thing that feeds of a dataset depend on. */
export class Dependency {
  /** @param logFields Name it in the log. */
  constructor(readonly logFields: Readonly<Record<string, string | null>>) {}

  /** The account that sends some of the keys. */
  static ofSender(sender: Address): Dependency {
    return new Dependency({ dependency: "sender", sender });
  }

  static ofKey(key: Hex): Dependency {
    return new Dependency({ key, ascii: keyToAscii(key) });
  }
}

/** What all feeds share. */
export const SHARED = {
  chain: new Dependency({ dependency: "chain" }),
  committee: new Dependency({ dependency: "committee" }),
  batches: new Dependency({ dependency: "batches" }),
  gas: new Dependency({ dependency: "gas" }),
};

interface Trouble {
  /** In a row. */
  failures: number;
  /** By the monotonic clock, like `retryAt`. */
  readonly since: number;
  /** When it is time to find out whether it is over. */
  retryAt: number;
  /** The codes of the causes that the log has. */
  readonly codes: Set<string>;
  /** The cause that the log had last, with who fails and how, and when. */
  logged: { readonly cause: string; readonly at: number } | null;
}

/** Of causes that differ only in who fails and how, one is logged in this time. */
const MS_BETWEEN_LOGS = 60_000;

/** Feeds have to be fresh again soon after a trouble is over, so that the longest wait is short. */
const BACK_OFF: BackOffBounds = { firstMs: 1_000, maxMs: 5_000 };

/** Remembers which dependencies fail, spaces the attempts to find out whether they work again, and logs each change. */
export class FailureBackoff {
  readonly #troubles = new Map<Dependency, Trouble>();

  constructor(
    private readonly context: Pick<Context, "clock" | "random">,
    private readonly log: Logger,
  ) {}

  get isAnyFailing(): boolean {
    return this.#troubles.size > 0;
  }

  isFailing(dependency: Dependency): boolean {
    return this.#troubles.has(dependency);
  }

  /** Returns true if a dependency works as far as is known, or it is time to try it again. */
  isDue(dependency: Dependency): boolean {
    return this.context.clock.monotonic() >= (this.#troubles.get(dependency)?.retryAt ?? Number.NEGATIVE_INFINITY);
  }

  /** How long until it is time to try one of them again, in milliseconds; infinite if none is waited for. */
  get untilNextTryMs(): number {
    const now = this.context.clock.monotonic();
    const waits = [...this.#troubles.values()].map(({ retryAt }) => retryAt - now);
    return Math.min(...waits.filter((ms) => ms > 0));
  }

  failed(dependency: Dependency, error: unknown): void {
    const now = this.context.clock.monotonic();
    const known = this.#troubles.get(dependency);
    const trouble: Trouble = known ?? { failures: 0, since: now, retryAt: now, codes: new Set<string>(), logged: null };
    this.#troubles.set(dependency, trouble);
    // Updates that began together fail together: that is one failure.
    if (now >= trouble.retryAt) this.tried(dependency);
    const { level, fields, message } = describe(error);
    const code = problemOf(error)?.code ?? message;
    const cause = error instanceof NoQuorum ? describeFailures(error) : code;
    const isOver = trouble.logged === null || now - trouble.logged.at >= MS_BETWEEN_LOGS;
    const isLogged = trouble.codes.has(code) && (trouble.logged?.cause === cause || !isOver);
    trouble.codes.add(code);
    if (!isLogged) trouble.logged = { cause, at: now };
    this.log[isLogged ? "debug" : level]({ ...dependency.logFields, ...fields, failures: trouble.failures }, message);
  }

  /** Takes note that dependencies which fail are being tried: nothing else is, until the next wait is over. */
  tried(...dependencies: readonly Dependency[]): void {
    for (const dependency of dependencies) {
      const trouble = this.#troubles.get(dependency);
      if (trouble === undefined) continue;
      trouble.failures++;
      trouble.retryAt = this.context.clock.monotonic() + backOffMs(trouble.failures, BACK_OFF, this.context.random);
    }
  }

  /** @returns True if one of them had failed. */
  worked(...dependencies: readonly Dependency[]): boolean {
    let hadFailed = false;
    for (const dependency of dependencies) {
      const trouble = this.#troubles.get(dependency);
      if (trouble === undefined) continue;
      hadFailed = true;
      this.#troubles.delete(dependency);
      const { failures, since } = trouble;
      const seconds = Math.round((this.context.clock.monotonic() - since) / 1000);
      this.log.info({ ...dependency.logFields, failures, seconds }, "feed: works again");
    }
    return hadFailed;
  }
}

/** Who fails, and how: in the order of the committee. */
const describeFailures = ({ failures }: NoQuorum) =>
  failures.map(({ provider, reason }) => `${provider} ${reason}`).join(", ");

/** What the operator's owner can do, where that is something else than what callers are advised. */
function fixOf(error: unknown): string | null {
  if (error instanceof KeyNotServed) return "Remove the key from feeds, or ask the providers' owners to serve it.";
  return error instanceof NotSent ? (FIXES[error.fault.kind] ?? null) : null;
}

const FIXES: Readonly<Partial<Record<SendingFault["kind"], string>>> = {
  out_of_funds: "Fund the sender.",
  fees_too_high: "Wait until gas is cheaper, or raise the setting.",
  signer_failed: "Look at the signer and its own log.",
};

/** Reports whether the feeds' gas is spent. Callers have budgets of their own. */
const isGasSpent = (error: unknown) =>
  error instanceof NotSent && error.fault.kind === "gas_spent" && error.fault.budget === "feeds";

function describe(error: unknown) {
  if (isGasSpent(error)) {
    const fields = { fix: "Wait, or raise gasPerHourForFeeds." };
    return { level: "warn", fields, message: "feed: the gas of the feeds is spent" } as const;
  }
  const problem = problemOf(error);
  if (problem === null)
    return { level: "error", fields: { reason: stackOf(error) }, message: "feed: update failed" } as const;
  const { code, title, detail, logFields } = problem;
  // The details of these advise callers.
  const isForCallers = error instanceof NotSent || error instanceof RpcError;
  const fix = fixOf(error);
  const advice = { ...(!isForCallers && { detail }), ...(fix !== null && { fix }) };
  return { level: "warn", fields: { code, ...advice, ...logFields }, message: `feed: ${title}` } as const;
}

/** How much a failed update says about others: all that need the same committee, gas or sender fail too, or only this one. */
export type FailureScope = "committee" | "gas" | "sender" | "update";

/**
 * Decides whether the keys of a batch that failed can succeed one by one. When the committee is silent or the sender cannot
 * send, asking for each would multiply the load and change nothing.
 */
export function isWorthSplitting(error: unknown): boolean {
  // The rest of the gas budget can be enough for some of the keys.
  return ["update", "gas"].includes(failureScopeOf(error));
}

/** Decides how far a failure reaches. */
export function failureScopeOf(error: unknown): FailureScope {
  if (isGasSpent(error)) return "gas";
  if (isNotSent(error, "out_of_funds", "fees_too_high", "signer_failed", "shutting_down")) return "sender";
  if (error instanceof RpcError) return error.kind === "refused" ? "update" : "sender";
  return error instanceof NoQuorum && isCommitteeDown(error) ? "committee" : "update";
}

/** Reports whether so many members gave no usable answer that no update can reach a quorum. */
function isCommitteeDown({ members, failures }: NoQuorum): boolean {
  const silent = failures.filter(({ reason, refuses }) => refuses === null && reason !== "not_asked").length;
  return !reachesQuorum(members - silent, members);
}
