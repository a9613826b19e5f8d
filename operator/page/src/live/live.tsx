import type { NetworkOverview, OverviewAnswer } from "@dataset-oracle/protocol/wire-data";
import { createContext } from "preact";
import { useContext, useMemo, useRef } from "preact/hooks";
import { get, type ReadError } from "../api/get";
import { fillIn, type LastKnown, remember } from "./last-known";
import { useNow } from "./use-now";
import { usePolled } from "./use-polled";

/** Three open pages of one caller stay below the operator's default limit of 60 requests a minute. */
const EVERY_MS = 4_000;

/** The state that the whole page shows. */
export interface Live {
  /** Null until the first answer. */
  readonly networks: readonly NetworkOverview[] | null;
  readonly error: ReadError | null;
  /** Seconds since 1970 by the operator's clock, for computing ages. */
  readonly now: number;
  /** Reads refresh immediately. */
  readonly refresh: () => void;
}

export const LiveContext = createContext<Live>({ networks: null, error: null, now: 0, refresh: () => {} });
export const useLive = () => useContext(LiveContext);

/** Polls the overview. */
export function useOverview(): Live {
  const { value, error, refresh } = usePolled<OverviewAnswer>("overview", () => get("overview"), EVERY_MS);
  const here = useNow();
  const ahead = useRef({ value, by: 0 });
  // The lead of this machine's clock, measured at each answer.
  if (value !== ahead.current.value)
    ahead.current = { value, by: value ? Math.floor(Date.now() / 1000) - value.time : 0 };
  const now = here - ahead.current.by;
  const known = useRef<LastKnown>(new Map());
  const networks = useMemo(() => value && fillIn(value.networks, known.current), [value]);
  if (networks) known.current = remember(networks);
  return useMemo(() => ({ networks, error, now, refresh }), [networks, error, now]);
}
