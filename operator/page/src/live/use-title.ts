import { useEffect } from "preact/hooks";

const NAME = "Dataset Oracle";

/** Names the document after what is shown in it. */
export function useTitle(what: string | null): void {
  useEffect(() => {
    document.title = what === null ? NAME : `${what} · ${NAME}`;
  }, [what]);
}
