/** Highlighted messages: errors, warnings and information. */

import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import type { ComponentChildren } from "preact";
import { datasetName, networkName } from "../format/names";
import { formatDuration } from "../format/time";
import { chainLiveness, countAnsweringProviders } from "../live/health";
import { useOverview } from "../live/overview";

interface NoticeProps {
  readonly title: string;
  readonly tone?: "bad" | "warn" | "info";
  readonly code?: string;
  readonly children: ComponentChildren;
}

export function Notice({ title, tone = "bad", code, children }: NoticeProps) {
  return (
    <div class={`note ${tone}`}>
      <b>{title}</b>
      <div class="quiet">{children}</div>
      {code && <code class="quiet">{code}</code>}
    </div>
  );
}

/** Shows that the first answer is awaited, or why there is none. */
export function LoadingOrError() {
  const { error } = useOverview();
  if (error === null) return <p class="empty">Reading the chain …</p>;
  return (
    <Notice title={error.title} code={error.code}>
      {error.detail}
    </Notice>
  );
}

/** Explains why the values shown may be outdated; empty if they are not, or if nothing has been read yet. */
export function ConnectionWarning() {
  const { networks, error } = useOverview();
  if (error === null || networks === null) return null;
  const wait = error.retryAfter === null ? "" : ` in ${error.retryAfter} s`;
  return (
    <Notice tone="warn" title="The values shown may be outdated." code={error.code}>
      {error.code === "too_many_requests"
        ? `You have reached this operator's rate limit. The page continues automatically${wait}.`
        : `${error.title} The page retries automatically.`}
    </Notice>
  );
}

interface HaltedProps {
  readonly network: NetworkOverview;
  /** Those that are shown below. */
  readonly datasets: readonly DatasetOverview[];
}

/** Explains the worst reason why values of a network are not updated now; empty if there is none. */
export function HaltedUpdatesWarning({ network, datasets }: HaltedProps) {
  const { error, now } = useOverview();
  // `ConnectionWarning` explains this.
  if (error) return null;
  const name = networkName(network.network_id);
  const state = chainLiveness(network, now);
  if (state === "unreadable") {
    return (
      <Notice tone="warn" title={`${name} cannot be read now.`} code="rpc_failed">
        The operator's connection to the chain is failing. The stored values are safe, and contracts can read them. The
        page retries automatically.
      </Notice>
    );
  }
  if (state === "stalled") {
    const age = formatDuration(now - (network.head_timestamp ?? now));
    return (
      <Notice tone="warn" title={`${name} has had no new block for ${age}.`}>
        No value can be updated until the next block. The ages shown keep increasing.
      </Notice>
    );
  }
  const halted = datasets.filter((dataset) => {
    const { answering, needed } = countAnsweringProviders(dataset);
    return answering < needed;
  });
  const [first] = halted;
  if (!first) return null;
  const { needed, answering } = countAnsweringProviders(first);
  return (
    <Notice tone="warn" title={`Updates of ${halted.map((one) => datasetName(one.name)).join(", ")} are halted.`}>
      Only {answering} of {first.providers.length} data providers answer this operator, and {needed} must sign.
      Contracts can still read the stored values, whose ages keep increasing.
    </Notice>
  );
}
