import { type ComponentChildren, createContext } from "preact";
import { useCallback, useContext, useState } from "preact/hooks";

const AnnounceContext = createContext<(text: string) => void>(() => {});

/** Says something to whoever listens to the page instead of looking at it. */
export const useAnnounce = () => useContext(AnnounceContext);

/** One live region for the whole page: it is there before anything is said. */
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
