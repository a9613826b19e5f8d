import type { Result } from "@dataset-oracle/protocol/result";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ReadError } from "../operator-api";
import { Poller } from "./poller";

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
    const onRead = (got: Result<T, ReadError>) =>
      setState((before) => {
        const value = before?.id === id ? before.value : null;
        return got.ok ? { id, value: got.value, error: null } : { id, value, error: got.error };
      });
    const poller = new Poller<T>(
      () => newestRead.current(),
      everyMs,
      onRead,
      () => document.hidden,
    );
    refresh.current = () => void poller.poll();
    document.addEventListener("visibilitychange", poller.poll);
    void poller.poll();
    return () => {
      poller.stop();
      document.removeEventListener("visibilitychange", poller.poll);
    };
  }, [id, everyMs]);

  const { value, error } = state?.id === id ? state : { value: null, error: null };
  return { value, error, refresh: () => refresh.current() };
}
