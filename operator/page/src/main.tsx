import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/layout.css";
import "./style/controls.css";
import "./style/data.css";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ExplorerContext } from "./components/copy";
import { Footer, Header, NotFound } from "./components/frame";
import { ConnectionWarning, LoadingOrError } from "./components/notices";
import { OverviewContext, useOverview, useOverviewState } from "./live/overview";
import { surviveTranslation } from "./live/translation";
import { DataPointPage } from "./pages/data-point-page";
import { DatasetPage } from "./pages/dataset-page";
import { HomePage } from "./pages/home-page";
import { type Route, useRoute } from "./route";

function App() {
  const overview = useOverviewState();
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const { section, ...view } = { section: undefined, ...route };
  const place = JSON.stringify(view);
  const first = useRef(place);
  const isRead = overview.networks !== null;
  useEffect(() => {
    if (first.current === place) return;
    first.current = "";
    // A new page starts at its top, and screen readers start reading there.
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [place]);
  useEffect(() => {
    const heading = section && document.getElementById(section);
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.parentElement?.scrollIntoView();
  }, [place, section, isRead]);
  return (
    <OverviewContext.Provider value={overview}>
      <button type="button" class="primary unseen" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Header />
      <main class="wide" ref={main} tabIndex={-1}>
        <ConnectionWarning />
        <Page key={place} route={route} />
      </main>
      <Footer />
    </OverviewContext.Provider>
  );
}

function Page({ route }: { route: Route }) {
  const { networks } = useOverview();
  if (route.page === "home") return <HomePage />;
  if (route.page === "unknown") return <NotFound what="a page at this address" />;
  if (networks === null) return <LoadingOrError />;
  const { networkId, dataset: address } = route;
  const network = networks.find(({ network_id }) => network_id === networkId);
  const dataset = network?.datasets.find(({ dataset }) => dataset.toLowerCase() === address.toLowerCase());
  if (!network || !dataset) return <NotFound what={`${address} on network ${networkId}`} />;
  return (
    <ExplorerContext.Provider value={network.explorer_url}>
      {route.page === "point" ? (
        <DataPointPage network={network} dataset={dataset} text={route.key} />
      ) : (
        <DatasetPage network={network} dataset={dataset} />
      )}
    </ExplorerContext.Provider>
  );
}

const root = document.getElementById("page");
surviveTranslation();
if (root) render(<App />, root);
