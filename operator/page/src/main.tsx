import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/layout.css";
import "./style/controls.css";
import "./style/data.css";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ConnectionNote } from "./components/connection-note";
import { Footer, Header } from "./components/layout";
import { OverviewContext, useOverviewState } from "./live/overview-state";
import { BuildPageOnDemand } from "./pages/build-page-on-demand";
import { DatasetPage } from "./pages/dataset-page";
import { FoundDataset } from "./pages/found-dataset";
import { HomePage } from "./pages/home-page";
import { NotFoundPage } from "./pages/not-found-page";
import { PointPage } from "./pages/point-page";
import { type Route, useRoute } from "./route";

function App() {
  const overview = useOverviewState();
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const place = JSON.stringify(route);
  const first = useRef(place);
  useEffect(() => {
    if (first.current === place) return;
    first.current = "";
    // A new page starts at its top, and screen readers start reading there.
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [place]);
  return (
    <OverviewContext.Provider value={overview}>
      <button type="button" class="primary unseen" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Header />
      <main class="wide" ref={main} tabIndex={-1}>
        <ConnectionNote />
        <Page key={place} route={route} />
      </main>
      <Footer />
    </OverviewContext.Provider>
  );
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case "home":
      return <HomePage />;
    case "build":
      return <BuildPageOnDemand {...route} />;
    case "dataset":
      return <FoundDataset {...route}>{(found) => <DatasetPage {...found} />}</FoundDataset>;
    case "point":
      return <FoundDataset {...route}>{(found) => <PointPage {...found} text={route.key} />}</FoundDataset>;
    default:
      return <NotFoundPage what="this address" />;
  }
}

const root = document.getElementById("page");
if (root) render(<App />, root);
