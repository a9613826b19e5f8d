import { MAX_HEADER_BYTES, TOO_SLOW } from "./connection-limits.js";
import { ProblemError } from "./problem-error.js";
import { shortened } from "./validation-messages.js";

export const unsupportedMediaType = (title = "The content type is not JSON.") =>
  new ProblemError(415, "unsupported_media_type", {
    title,
    detail: 'Send JSON in UTF-8, uncompressed, with the header "content-type: application/json".',
  });

export const bodyTooLarge = (limit: number) =>
  new ProblemError(413, "body_too_large", { title: "The body is too large.", detail: `Send at most ${limit} bytes.` });

export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  new ProblemError(405, "method_not_allowed", {
    title: `${method} is not allowed at this path.`,
    detail: `Use ${allowed.join(" or ")}.`,
    headers: { allow: allowed.join(", ") },
  });

export const noSuchPath = (path: string) =>
  new ProblemError(404, "no_such_path", {
    title: "There is nothing at this path.",
    detail:
      `${shortened(path)} is not served. Check the path, including the service's base path. The API's paths have no ` +
      "slash at the end.",
  });

export const tooManyRequests = (max: number, seconds: number, who = "A caller", unit = "per minute") =>
  new ProblemError(429, "too_many_requests", {
    title: "Too many requests.",
    detail: `${who} may make ${max} requests ${unit}. Try again in ${seconds} s.`,
    headers: { "retry-after": String(seconds) },
  });

/** The problem of a body that is JSON, but could be read in more than one way. */
export const ambiguousBody = (detail: string) =>
  new ProblemError(400, "invalid_body", { title: "The request's body is not valid.", detail });

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
