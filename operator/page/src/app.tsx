import { useEffect, useRef } from "preact/hooks";
import { Announcer } from "./components/announcer";
import { Footer } from "./components/footer";
import { Header } from "./components/header";
import { LiveContext, useOverview } from "./live/live";
import { DatasetPage } from "./pages/dataset-page";
import { HomePage } from "./pages/home-page";
import { NotFoundPage } from "./pages/not-found-page";
import { PointPage } from "./pages/point-page";
import { type Route, useRoute } from "./route";

export function App() {
  const live = useOverview();
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
    <LiveContext.Provider value={live}>
      <Announcer>
        <button type="button" class="skip" onClick={() => main.current?.focus()}>
          Skip to content
        </button>
        <Header />
        <main id="main" ref={main} tabIndex={-1}>
          <Page key={place} route={route} />
        </main>
        <Footer />
      </Announcer>
    </LiveContext.Provider>
  );
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case "home":
      return <HomePage />;
    case "dataset":
      return <DatasetPage {...route} />;
    case "point":
      return <PointPage networkId={route.networkId} dataset={route.dataset} text={route.key} />;
    default:
      return <NotFoundPage what="this address" />;
  }
}
