import { useOverview } from "../live/overview-state";
import { Notice } from "./notice";

/** Explains why the values shown may be outdated; empty if they are not, or if nothing has been read yet. */
export function ConnectionWarning() {
  const { networks, error } = useOverview();
  if (error === null || networks === null) return null;
  const wait = error.retryAfter === null ? "" : ` in ${error.retryAfter} s`;
  return (
    <Notice tone="warn" title="The values shown may be outdated." code={error.code}>
      {error.code === "too_many_requests"
        ? `You have reached this operator's rate limit. The page continues automatically${wait}.`
        : `${error.title} The page retries automatically.`}
    </Notice>
  );
}
