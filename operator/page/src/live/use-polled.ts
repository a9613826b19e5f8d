import type { Result } from "@dataset-oracle/protocol/result";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ReadError } from "../operator-api";

/**
 * Polls while the page is visible, and waits longer if the operator asks for it.
 *
 * @param id Identifies what is read. When it changes, the last value is dropped.
 * @returns The last value that was read, the error if it could not be read since, and a function that reads it at once.
 */
export function usePolled<T>(id: string, read: () => Promise<Result<T, ReadError>>, everyMs: number) {
  const [state, setState] = useState<{ id: string; value: T | null; error: ReadError | null }>();
  const refresh = useRef(() => {});
  const newestRead = useRef(read);
  newestRead.current = read;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    let isBusy = false;
    const poll = async () => {
      clearTimeout(timer);
      if (isBusy || isGone || document.hidden) return;
      isBusy = true;
      const got = await newestRead.current();
      isBusy = false;
      if (isGone) return;
      setState((before) => {
        const value = before?.id === id ? before.value : null;
        return got.ok ? { id, value: got.value, error: null } : { id, value, error: got.error };
      });
      const wait = got.ok ? everyMs : Math.max(everyMs, 1000 * (got.error.retryAfter ?? 0));
      timer = setTimeout(poll, wait);
    };
    refresh.current = () => void poll();
    document.addEventListener("visibilitychange", poll);
    void poll();
    return () => {
      isGone = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", poll);
    };
  }, [id, everyMs]);

  const { value, error } = state?.id === id ? state : { value: null, error: null };
  return { value, error, refresh: () => refresh.current() };
}
