import { chainLiveness } from "../live/chain-liveness";
import { type OverviewState, useOverview } from "../live/overview-state";

/** Shows whether the page has current data, or the first problem with what it depends on. */
export function ConnectionStatus() {
  const { tone, sign, words } = SIGNS[connectionOf(useOverview())];
  return (
    <span class="label">
      <span class={tone}>{sign}</span> <span>{words}</span>
    </span>
  );
}

const SIGNS = {
  live: { tone: "good", sign: "●", words: "Live" },
  loading: { tone: "quiet", sign: "●", words: "Loading" },
  stalled: { tone: "warn", sign: "▲", words: "No new blocks" },
  unreadable: { tone: "warn", sign: "▲", words: "Chain not readable" },
  limited: { tone: "warn", sign: "▲", words: "Rate limit reached" },
  disconnected: { tone: "bad", sign: "■", words: "Not connected" },
} as const;

/** Returns the first problem with what the page depends on, or `live`. */
function connectionOf({ networks, error, now }: OverviewState): keyof typeof SIGNS {
  if (error) return error.code === "too_many_requests" ? "limited" : "disconnected";
  if (!networks) return "loading";
  return networks.map((network) => chainLiveness(network, now)).find((state) => state !== "live") ?? "live";
}
