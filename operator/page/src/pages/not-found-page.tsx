import { useTitle } from "../live/use-title";

/** @param what Completes the sentence "Nothing is served at ...". */
export function NotFoundPage({ what }: { what: string }) {
  useTitle("Not found");
  return (
    <div class="wide">
      <div class="hero">
        <h1>Nothing is served at {what}</h1>
        <p class="lead">
          Check the address, or go to <a href="#/">all data</a>.
        </p>
      </div>
    </div>
  );
}
