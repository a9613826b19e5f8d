import type { NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LoadingOrError } from "../components/loading-or-error";
import { Notice } from "../components/notice";
import { useOverview } from "../live/overview-state";
import { NotFoundPage } from "./not-found-page";

type Page = FunctionComponent<{ network: NetworkOverview }>;

/** Loads the page that builds request specs, which few readers need. */
export function LazySpecBuilderPage({ networkId }: { networkId: number }) {
  const { networks } = useOverview();
  const [Loaded, setLoaded] = useState<Page | "failed" | null>(null);
  useEffect(() => {
    import("../spec-builder/spec-builder-page").then(
      (module) => setLoaded(() => module.default),
      () => setLoaded("failed"),
    );
  }, []);
  const network = networks?.find(({ network_id: id }) => id === networkId);
  if (networks && !network) return <NotFoundPage what={`network ${networkId}`} />;
  if (Loaded === "failed") {
    return (
      <Notice title="This part of the page could not be loaded.">Check your connection, and reload the page.</Notice>
    );
  }
  if (!network || !Loaded) return <LoadingOrError />;
  return <Loaded network={network} />;
}
