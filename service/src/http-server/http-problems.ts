import { MAX_HEADER_BYTES, TOO_SLOW } from "./connection-limits.js";
import { ProblemError, problem } from "./problem-error.js";
import { shortened } from "./validation.js";

export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  problem("method_not_allowed", { method, allowed: allowed.join(" or ") }, { headers: { allow: allowed.join(", ") } });

export const noSuchPath = (path: string) => problem("no_such_path", { path: shortened(path) });

export const tooManyRequests = (max: number, seconds: number, who = "A caller") =>
  problem("too_many_requests", { who, max, seconds }, { headers: { "retry-after": String(seconds) } });

export const tooManyBytes = (max: number, seconds: number) =>
  problem(
    "too_many_requests",
    { who: "A caller", max, seconds },
    {
      detail: `The bodies of a caller's requests may have ${max} bytes per minute. Try again in ${seconds} s.`,
      headers: { "retry-after": String(seconds) },
    },
  );

export const tooManyChunks = (max: number) =>
  new ProblemError(400, "bad_request", {
    title: "The body comes in too many chunks.",
    detail: `Send it in at most ${max} chunks, or with a Content-Length.`,
  });

/** The problem of a body that is JSON, but could be read in more than one way. */
export const ambiguousBody = (detail: string) =>
  problem("invalid_body", {}, { detail, extras: { errors: [{ property: "the body", problem: detail }] } });

/** @param code The code of the error of Node's HTTP parser. */
export function unreadable(code: string | undefined): ProblemError {
  const problems: Record<string, [status: number, title: string, detail: string]> = {
    HPE_HEADER_OVERFLOW: [
      431,
      "The request's headers are too large.",
      `Send at most ${MAX_HEADER_BYTES} bytes, including the request line.`,
    ],
    ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long.", TOO_SLOW],
  };
  const [status, title, detail] = problems[code ?? ""] ?? [
    400,
    "The request is not valid HTTP.",
    "Send a request that follows HTTP/1.1.",
  ];
  return new ProblemError(status, "bad_request", { title, detail });
}
