import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/layout.css";
import "./style/controls.css";
import "./style/data.css";
import "./style/code.css";
import "./style/notices-and-steps.css";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ConnectionWarning } from "./components/connection-warning";
import { Footer } from "./components/footer";
import { Header } from "./components/header";
import { OverviewContext, useOverviewState } from "./live/overview-state";
import { DataPointPage } from "./pages/data-point-page";
import { DatasetPage } from "./pages/dataset-page";
import { DatasetRoute } from "./pages/dataset-route";
import { HomePage } from "./pages/home-page";
import { LazySpecBuilderPage } from "./pages/lazy-spec-builder-page";
import { NotFoundPage } from "./pages/not-found-page";
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
        <ConnectionWarning />
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
      return <LazySpecBuilderPage {...route} />;
    case "dataset":
      return <DatasetRoute {...route}>{(found) => <DatasetPage {...found} />}</DatasetRoute>;
    case "point":
      return <DatasetRoute {...route}>{(found) => <DataPointPage {...found} text={route.key} />}</DatasetRoute>;
    default:
      return <NotFoundPage what="a page at this address" />;
  }
}

const root = document.getElementById("page");
if (root) render(<App />, root);
