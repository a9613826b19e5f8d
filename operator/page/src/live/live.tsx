import type { NetworkOverview, OverviewAnswer } from "@dataset-oracle/protocol/wire-data";
import { createContext } from "preact";
import { useContext, useMemo, useRef } from "preact/hooks";
import { get, type Trouble } from "../api/get";
import { fillIn, type Remembered, remember } from "./remember";
import { useNow } from "./use-now";
import { usePolled } from "./use-polled";

/** With the default limit of 60 requests a minute, three open pages of one caller stay below it. */
const EVERY_MS = 4_000;

/** What the whole page shows, as it is now. */
export interface Live {
  /** Null before the first answer. */
  readonly networks: readonly NetworkOverview[] | null;
  readonly trouble: Trouble | null;
  /** Seconds since 1970 by the operator's clock: the one that ages are told by. */
  readonly now: number;
  /** Reads anew at once. */
  readonly again: () => void;
}

export const LiveContext = createContext<Live>({ networks: null, trouble: null, now: 0, again: () => {} });
export const useLive = () => useContext(LiveContext);

/** Keeps the overview up to date. */
export function useOverview(): Live {
  const { value, trouble, again } = usePolled<OverviewAnswer>("overview", () => get("overview"), EVERY_MS);
  const here = useNow();
  const ahead = useRef({ value, by: 0 });
  // How far this machine's clock is ahead, when an answer came.
  if (value !== ahead.current.value)
    ahead.current = { value, by: value ? Math.floor(Date.now() / 1000) - value.time : 0 };
  const now = here - ahead.current.by;
  const known = useRef<Remembered>(new Map());
  const networks = useMemo(() => value && fillIn(value.networks, known.current), [value]);
  if (networks) known.current = remember(networks);
  return useMemo(() => ({ networks, trouble, now, again }), [networks, trouble, now]);
}
