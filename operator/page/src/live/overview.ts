import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { createContext } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getOverview, type ReadError } from "../operator-api";
import { usePolled } from "./use-polled";

/** Three open pages of one caller stay below the operator's default limit of 60 requests a minute. */
const EVERY_MS = 4_000;

/** A dataset that the operator serves, and its network. */
export interface NetworkAndDataset {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
}

/** The state that the whole page shows. */
interface OverviewState {
  /** Null until the first answer. */
  readonly networks: readonly NetworkOverview[] | null;
  readonly error: ReadError | null;
  /** Seconds since 1970 by the operator's clock, for computing ages. */
  readonly now: number;
  /** Reads the overview immediately. */
  readonly refresh: () => void;
}

export const OverviewContext = createContext<OverviewState>({ networks: null, error: null, now: 0, refresh: () => {} });
export const useOverview = () => useContext(OverviewContext);

/** Polls the overview. */
export function useOverviewState(): OverviewState {
  const { value, error, refresh } = usePolled("overview", getOverview, EVERY_MS);
  const here = useSeconds();
  // How far this machine's clock is ahead of the operator's, measured at each answer.
  const ahead = useMemo(() => (value ? seconds() - value.time : 0), [value]);
  const known = useRef(new Map<string, DatasetOverview>());
  const networks = useMemo(() => value?.networks.map((network) => fillIn(network, known.current)) ?? null, [value]);
  const now = here - ahead;
  return useMemo(() => ({ networks, error, now, refresh }), [networks, error, now]);
}

/** Replaces datasets that cannot be read now with their last known state. Their ages show how old it is. */
function fillIn(network: NetworkOverview, known: Map<string, DatasetOverview>): NetworkOverview {
  const datasets = network.datasets.map((dataset) => {
    const id = `${network.network_id} ${dataset.dataset}`;
    if (dataset.points === null) return known.get(id) ?? dataset;
    known.set(id, dataset);
    return dataset;
  });
  return { ...network, datasets };
}

/** Returns this machine's time in seconds since 1970, updated every second. */
function useSeconds(): number {
  const [now, setNow] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setNow(seconds()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const seconds = () => Math.floor(Date.now() / 1000);
