import { useOverview } from "../live/overview-state";
import { Notice } from "./notice";

/** Shows that the first answer is awaited, or why there is none. */
export function LoadingOrError() {
  const { error } = useOverview();
  if (error === null) return <p class="empty">Reading the chain …</p>;
  return (
    <Notice title={error.title} code={error.code}>
      {error.detail}
    </Notice>
  );
}
