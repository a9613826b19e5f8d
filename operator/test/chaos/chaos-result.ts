/** The result of a chaos run. */
export interface ChaosResult {
  /** Injected faults by kind. All were survived if the rest of the result is as it must be. */
  readonly faults: Tally;
  /** Answers by kind: `sent`, `prepared`, the code of a problem, or `no answer` while an operator was away. */
  readonly answers: Tally;
  /** Updates that were answered with a hash and of which the chain has neither the round nor a newer one. */
  readonly lost: readonly string[];
  /** Such updates that the chain dropped after their process had ended, when no process knew of them. */
  readonly forgotten: number;
  /**
   * The final counts by sender: `latest` equals `pending` when nothing is pending, and `queued` is 0 when no gap is
   * left.
   */
  readonly nonces: readonly { readonly latest: number; readonly pending: number; readonly queued: number }[];
  /** Keys whose timestamp on the chain decreased. */
  readonly wentBack: readonly string[];
  /** Feeds that are older than the operators may let them become. */
  readonly staleFeeds: readonly string[];
  readonly memory: Memory;
  readonly seconds: number;
}

/** Megabytes of the processes. The medians are of those that run at the end. */
export interface Memory {
  readonly peak: number;
  readonly midRunMedian: number;
  readonly finalMedian: number;
}

/** Formats a result for the console. */
export function describeResult(title: string, result: ChaosResult): string {
  const { faults, answers, lost, forgotten, nonces, staleFeeds, memory, seconds } = result;
  const tally = (of: Tally) =>
    Object.entries(of)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`);
  const senders = nonces.map(({ latest, pending, queued }) => `${latest} mined, ${pending - latest + queued} left`);
  return [
    `${title}, ${seconds} s.`,
    "Faults survived:",
    ...tally(faults),
    "Answers:",
    ...tally(answers),
    `Lost: ${lost.length}. Dropped by the chain after their process had ended: ${forgotten}.`,
    `Transactions by sender: ${senders.join("; ")}.`,
    `Feeds that are too old: ${staleFeeds.length}.`,
    `Memory: ${memory.peak} MB at most; ${memory.midRunMedian} MB in the middle of the last processes' lives, ${memory.finalMedian} MB at their end.`,
  ].join("\n");
}

export type Tally = Record<string, number>;
