import { useDocumentTitle } from "../components/use-document-title";

/** @param what Completes the sentence "This operator does not serve ...". */
export function NotFoundPage({ what }: { what: string }) {
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
