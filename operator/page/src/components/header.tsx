import { networkName } from "../format/network-and-dataset-names";
import { useOverview } from "../live/overview-state";
import { OPERATOR_URL } from "../operator-api";
import { ConnectionStatus } from "./connection-status";

export function Header() {
  const simulated = useOverview().networks?.filter((network) => network.simulated) ?? [];
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
        <ConnectionStatus />
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
