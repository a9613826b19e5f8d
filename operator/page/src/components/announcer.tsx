import { type ComponentChildren, createContext } from "preact";
import { useCallback, useContext, useState } from "preact/hooks";

const AnnounceContext = createContext<(text: string) => void>(() => {});

/** Returns a function that announces text to screen readers. */
export const useAnnounce = () => useContext(AnnounceContext);

/** One live region for the whole page, because a region must exist before its text changes. */
export function Announcer({ children }: { children: ComponentChildren }) {
  const [text, setText] = useState("");
  const announce = useCallback((said: string) => setText(said), []);
  return (
    <AnnounceContext.Provider value={announce}>
      {children}
      <p class="unseen" role="status" aria-live="polite">
        {text}
      </p>
    </AnnounceContext.Provider>
  );
}
