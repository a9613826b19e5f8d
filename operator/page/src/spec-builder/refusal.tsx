import { Notice } from "../components/notice";
import { OPERATOR_URL, type ReadError } from "../operator-api";
import { renderInlineCode } from "./inline-code";

/** The problem codes of operators whose providers offer no trials, and of operators without this endpoint. */
const NO_TRIALS: readonly string[] = ["trials_off", "no_such_path"];

/** Shows why there is no trial or no advice, and what to do instead. */
export function Refusal({ error }: { error: ReadError }) {
  const { code, title, detail, retryAfter, errors = [] } = error;
  const isMarked = errors.length > 0;
  return (
    <Notice tone="bad" title={title} code={code}>
      {isMarked
        ? `Correct what is marked above: ${errors.length === 1 ? "one place" : `${errors.length} places`}.`
        : renderInlineCode(detail)}
      {NO_TRIALS.includes(code) && (
        <>
          {" "}
          Try and publish it <a href={`${OPERATOR_URL}/guide/web-oracle/`}>from the command line</a> instead.
        </>
      )}
      {retryAfter !== null && ` Try again in ${retryAfter} s.`}
    </Notice>
  );
}
