import { BASE } from "../api/base";
import { useLive } from "../live/live";
import { Logo } from "./logo";

export function Header() {
  const { networks, error } = useLive();
  const state = error ? "lost" : networks === null ? "waiting" : "live";
  const words = { live: "Live", waiting: "Loading", lost: "Not connected" }[state];
  return (
    <header class="top">
      <div class="wide top-line">
        <a class="brand" href="#/">
          <Logo />
          <span>Dataset Oracle</span>
        </a>
        <span class={`pulse pulse-${state}`}>{words}</span>
        <nav aria-label="Main">
          <a class="top-link top-home" href="#/">
            Data
          </a>
          <a class="top-link" href={`${BASE}/guide/`}>
            Guide
          </a>
          <a class="top-link" href={`${BASE}/docs`}>
            API
          </a>
        </nav>
      </div>
    </header>
  );
}
