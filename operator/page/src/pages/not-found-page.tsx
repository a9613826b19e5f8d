import { useDocumentTitle } from "../components/title";

/** @param what Completes the sentence "Nothing is served at ...". */
export function NotFoundPage({ what }: { what: string }) {
  useDocumentTitle("Not found");
  return (
    <div class="hero">
      <h1>Nothing is served at {what}</h1>
      <p class="quiet">
        Check the address, or go to <a href="#/">all data</a>.
      </p>
    </div>
  );
}
