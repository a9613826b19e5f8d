/** What surrounds the content of each view: header, heading, footer. */

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { networkName } from "../format/names";
import icon from "../icon.svg";
import { useOverview } from "../live/overview";
import { OPERATOR_URL } from "../operator-api";
import { Explanations } from "./explain";

export const GUIDE_URL = `${OPERATOR_URL}/guide/`;

export function Header() {
  const simulated = useOverview().networks?.filter((network) => network.simulated) ?? [];
  return (
    <header>
      {simulated.length > 0 && (
        <p class="strip">
          <b>SIMULATED:</b> no value on {simulated.map(({ network_id: id }) => networkName(id)).join(", ")} is real
        </p>
      )}
      <div class="wide row">
        <a class="brand" href="#/">
          <img src={icon} alt="" width="27" height="27" />
          <b>Dataset Oracle</b>
        </a>
        <nav aria-label="Main">
          <a class="home" href="#/">
            Data
          </a>
          <a href={GUIDE_URL}>Guide</a>
          <a href={`${GUIDE_URL}reference/http/`}>API</a>
        </nav>
      </div>
    </header>
  );
}

export function Footer() {
  return (
    <footer class="small quiet">
      <div class="wide">
        <p>
          Every value is signed by data providers and verified by the contract that stores it. This operator only relays
          signed reports: it can neither create nor change a value.
        </p>
        <p>
          For developers: <a href={`${OPERATOR_URL}/openapi.json`}>OpenAPI</a>,{" "}
          <a href={`${OPERATOR_URL}/datasets`}>datasets</a>, <a href={`${OPERATOR_URL}/overview`}>overview</a>
        </p>
        <Explanations />
      </div>
    </footer>
  );
}

/** @param name The name of the view; null for the first one. */
export function useDocumentTitle(name: string | null): void {
  useEffect(() => {
    document.title = [name, "Dataset Oracle"].filter(Boolean).join(" · ");
  }, [name]);
}

interface HeadingProps {
  /** For the document's title. */
  readonly name: string;
  readonly heading?: ComponentChildren;
  /** The dataset to which a data point belongs. */
  readonly parent?: { readonly name: string; readonly href: string };
  /** A line below the heading. */
  readonly children: ComponentChildren;
}

/** Shows the breadcrumbs and the heading of a view, and names the document after it. */
export function PageHeading({ name, heading = name, parent, children }: HeadingProps) {
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

/** @param what Completes the sentence "This operator does not serve ...". */
export function NotFound({ what }: { what: string }) {
  useDocumentTitle("Not found");
  return (
    <div class="hero">
      <h1>This operator does not serve {what}</h1>
      <p class="quiet">
        Check the address, or go to <a href="#/">all data</a>.
      </p>
    </div>
  );
}
