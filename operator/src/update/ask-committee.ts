import { setMaxListeners } from "node:events";
import type { Committee } from "@dataset-oracle/protocol/committee-hash";
import type { Address, Hex } from "viem";
import type { Dataset, Network } from "../network.js";
import { fetchReportsFromNodes } from "../peers/fetch-reports-from-nodes.js";
import { othersOf } from "../peers/node-list.js";
import type { Context } from "../process-context.js";
import { askProvider, type ProviderRequest } from "../providers/ask-provider.js";
import { type Failure, isFailure } from "../providers/failure.js";
import type { Statement } from "../statements/statement.js";

/** How long only the providers' own answers count; by then other nodes have asked them too. */
const RELAY_AFTER_MS = 1_000;

/** A question to a committee. It can also be answered by what others pass on. */
export interface CommitteeRequest<T extends Statement> extends ProviderRequest<T> {
  readonly dataset: Dataset;
  readonly round: bigint;
  /** A key that the question is about. */
  readonly key: Hex;
  readonly kind: T["kind"];
  /** Reports whether what was signed about the key at the round answers this question. */
  readonly isAnswer: (held: T) => boolean;
  /** Called with each answer that counts. */
  readonly onTaken: (answer: T) => void;
  readonly isEnough: (answers: readonly (T | Failure)[]) => boolean;
}

/**
 * Asks all members at once. After enough have answered, the others get a short grace period, because an update contains
 * every valid report at hand. If there are not enough after a second, what other nodes have passed on counts too, and
 * they are asked for what they hold.
 */
export async function askCommittee<T extends Statement>(
  { closing, metrics }: Context,
  network: Network,
  { members }: Committee,
  request: CommitteeRequest<T>,
): Promise<readonly (T | Failure)[]> {
  const { chainId, providerUrls, providerFailures, settings, statements } = network;
  const { dataset, kind, key, round } = request;
  const over = new AbortController();
  // Each member's request listens to the signal.
  setMaxListeners(0, over.signal);
  const stop = () => over.abort();
  if (closing.aborted) stop();
  closing.addEventListener("abort", stop);
  const answers = new Map<Address, T | Failure>();
  /** Set once enough have answered. */
  let grace: NodeJS.Timeout | undefined;
  const take = (provider: Address, answer: T | Failure) => {
    answers.set(provider, answer);
    if (!isFailure(answer)) request.onTaken(answer);
    if (grace === undefined && request.isEnough([...answers.values()])) grace = setTimeout(stop, settings.graceMs);
  };
  const isLacking = (provider: Address) => {
    const answer = answers.get(provider);
    return answer === undefined || isFailure(answer);
  };
  const takeRelayed = () => {
    for (const provider of members.filter(isLacking)) {
      const held = statements.find(dataset, provider, kind, key, round) as T | null;
      if (held !== null && request.isAnswer(held)) take(provider, held);
    }
  };
  const askOthers = async () => {
    takeRelayed();
    if (grace !== undefined || over.signal.aborted) return;
    await fetchReportsFromNodes(network, dataset, key, round);
    takeRelayed();
  };
  const later = runLater(askOthers);
  await Promise.all(
    members.map(async (provider) => {
      const startedAt = performance.now();
      const answer = await askProvider(request, provider, providerUrls, over.signal);
      const labels = { network: chainId, provider, outcome: isFailure(answer) ? answer.reason : "ok" };
      metrics.providerRequests.observe(labels, (performance.now() - startedAt) / 1000);
      providerFailures.record(provider, answer);
      if (isLacking(provider)) take(provider, answer);
    }),
  );
  if (grace === undefined && !over.signal.aborted && othersOf(network.nodes).length > 0) await later.done;
  later.cancel();
  clearTimeout(grace);
  closing.removeEventListener("abort", stop);
  return members.flatMap((provider) => answers.get(provider) ?? []);
}

/** Runs something after a second, unless it is no longer needed. */
function runLater(run: () => Promise<void>): { readonly done: Promise<void>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const done = new Promise<void>((resolve) => {
    timer = setTimeout(() => void run().finally(resolve), RELAY_AFTER_MS);
  });
  return { done, cancel: () => clearTimeout(timer) };
}
