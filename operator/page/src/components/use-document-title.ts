import { useEffect } from "preact/hooks";

/** @param name The name of the page; null for the home page. */
export function useDocumentTitle(name: string | null): void {
  useEffect(() => {
    document.title = [name, "Dataset Oracle"].filter(Boolean).join(" · ");
  }, [name]);
}
