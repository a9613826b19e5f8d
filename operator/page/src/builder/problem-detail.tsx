import { Notice } from "../components/notice";
import { BASE, type ReadError } from "../operator";

/** Shows why there is no trial or no advice, with the way out. */
export function ProblemDetail({ error }: { error: ReadError }) {
  const { code, title, detail, retryAfter, errors = [] } = error;
  const isMarked = errors.length > 0;
  return (
    <Notice tone="bad" title={title} code={code}>
      {isMarked
        ? `Correct what is marked above: ${errors.length === 1 ? "one place" : `${errors.length} places`}.`
        : detail}
      {code === "trials_off" && (
        <>
          {" "}
          Try and publish it <a href={`${BASE}/guide/web-oracle/`}>from the command line</a> instead.
        </>
      )}
      {retryAfter !== null && ` Try again in ${retryAfter} s.`}
    </Notice>
  );
}
