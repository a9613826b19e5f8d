import type { ComponentChildren } from "preact";
import { useDocumentTitle } from "./use-document-title";

interface Props {
  /** For the document's title. */
  readonly name: string;
  readonly heading?: ComponentChildren;
  /** The dataset to which a data point belongs. */
  readonly parent?: { readonly name: string; readonly href: string };
  /** A line below the heading. */
  readonly children: ComponentChildren;
}

/** Shows the breadcrumbs and the heading of a page, and names the document after it. */
export function PageHeading({ name, heading = name, parent, children }: Props) {
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
