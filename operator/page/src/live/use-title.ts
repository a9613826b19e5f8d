import { useEffect } from "preact/hooks";

const NAME = "Dataset Oracle";

/** Sets the document's title. */
export function useTitle(what: string | null): void {
  useEffect(() => {
    document.title = what === null ? NAME : `${what} · ${NAME}`;
  }, [what]);
}
