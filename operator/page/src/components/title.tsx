import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

interface TitleProps {
  /** For the document's title. */
  readonly name: string;
  readonly heading?: ComponentChildren;
  /** The dataset to which a data point belongs. */
  readonly parent?: { readonly name: string; readonly href: string };
  /** A line below the heading. */
  readonly children: ComponentChildren;
}

/** Shows the breadcrumbs and the heading of a page, and names the document after it. */
export function Title({ name, heading = name, parent, children }: TitleProps) {
  useDocumentTitle(name);
  return (
    <>
      <nav class="crumbs small quiet" aria-label="Breadcrumb">
        <a href="#/">Data</a>
        {parent && <a href={parent.href}>{parent.name}</a>}
      </nav>
      <h1>{heading}</h1>
      <p class="quiet">{children}</p>
    </>
  );
}

export function useDocumentTitle(name: string | null): void {
  useEffect(() => {
    document.title = [name, "Dataset Oracle"].filter(Boolean).join(" · ");
  }, [name]);
}
