import { networkName } from "../format/network-and-dataset-names";
import { chainLiveness } from "../live/chain-liveness";
import { type OverviewState, useOverview } from "../live/overview-state";
import { OPERATOR_URL } from "../operator-api";

export function Header() {
  const overview = useOverview();
  const { tone, sign, words } = SIGNS[connectionOf(overview)];
  const simulated = overview.networks?.filter((network) => network.simulated) ?? [];
  return (
    <header>
      {simulated.length > 0 && (
        <p class="strip">
          <b>SIMULATED:</b> no value on {simulated.map(({ network_id: id }) => networkName(id)).join(", ")} is real
        </p>
      )}
      <div class="wide row">
        <a class="brand" href="#/">
          <Logo />
          <b>Dataset Oracle</b>
        </a>
        <span class="label">
          <span class={tone}>{sign}</span> <span>{words}</span>
        </span>
        <nav aria-label="Main">
          <a class="home" href="#/">
            Data
          </a>
          <a href={`${OPERATOR_URL}/guide/`}>Guide</a>
          <a href={`${OPERATOR_URL}/docs`}>API</a>
        </nav>
      </div>
    </header>
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

/** The logo: values on lines, with the middle one marked. */
function Logo() {
  return (
    <svg width="27" viewBox="0 0 32 32" fill="var(--on-accent)" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path d="M7 9h7M7 16h18M7 23h7" stroke="var(--on-accent)" stroke-width="2.4" stroke-linecap="round" />
      <circle cx="19" cy="9" r="2.6" opacity=".7" />
      <circle cx="25" cy="16" r="3.4" />
      <circle cx="19" cy="23" r="2.6" opacity=".7" />
    </svg>
  );
}
