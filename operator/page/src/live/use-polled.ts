import { useEffect, useRef, useState } from "preact/hooks";
import type { Got, Trouble } from "../api/get";

/** What was read last, and why it could not be read again since. */
export interface Polled<T> {
  readonly value: T | null;
  readonly trouble: Trouble | null;
  /** Asks again at once. */
  readonly again: () => void;
}

/**
 * Asks again and again while the page is looked at, later when the operator says so.
 *
 * @param subject What is asked for: when it changes, what was read is forgotten.
 */
export function usePolled<T>(subject: string, ask: () => Promise<Got<T>>, everyMs: number): Polled<T> {
  const [state, setState] = useState<{ subject: string; value: T | null; trouble: Trouble | null }>();
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
        const value = before?.subject === subject ? before.value : null;
        return got.ok ? { subject, value: got.value, trouble: null } : { subject, value, trouble: got.trouble };
      });
      const wait = got.ok ? everyMs : Math.max(everyMs, 1000 * (got.trouble.retryAfter ?? 0));
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
  }, [subject, everyMs]);

  const again = () => kick.current();
  return state?.subject === subject
    ? { value: state.value, trouble: state.trouble, again }
    : { value: null, trouble: null, again };
}
