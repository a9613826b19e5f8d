import type { Result } from "@dataset-oracle/protocol/result";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ReadError } from "../api/get";

/** The last value that was read, and the error if it could not be read since. */
export interface Polled<T> {
  readonly value: T | null;
  readonly error: ReadError | null;
  /** Reads refresh immediately. */
  readonly refresh: () => void;
}

/**
 * Polls while the page is visible, and waits longer if the operator asks for it.
 *
 * @param id Identifies what is read. When it changes, the last value is dropped.
 */
export function usePolled<T>(id: string, ask: () => Promise<Result<T, ReadError>>, everyMs: number): Polled<T> {
  const [state, setState] = useState<{ id: string; value: T | null; error: ReadError | null }>();
  const kick = useRef(() => {});
  const asking = useRef(ask);
  asking.current = ask;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    let isBusy = false;
    const look = async () => {
      clearTimeout(timer);
      if (isBusy || isGone || document.hidden) return;
      isBusy = true;
      const got = await asking.current();
      isBusy = false;
      if (isGone) return;
      setState((before) => {
        const value = before?.id === id ? before.value : null;
        return got.ok ? { id, value: got.value, error: null } : { id, value, error: got.error };
      });
      const wait = got.ok ? everyMs : Math.max(everyMs, 1000 * (got.error.retryAfter ?? 0));
      timer = setTimeout(look, wait);
    };
    kick.current = () => void look();
    const onVisible = () => {
      if (!document.hidden) void look();
    };
    document.addEventListener("visibilitychange", onVisible);
    void look();
    return () => {
      isGone = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [id, everyMs]);

  const refresh = () => kick.current();
  return state?.id === id ? { value: state.value, error: state.error, refresh } : { value: null, error: null, refresh };
}
