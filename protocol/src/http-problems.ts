/** The problems that any service of ours can answer, by their codes. */
export const HTTP_PROBLEMS = {
  bad_request: {
    status: [400, 408, 431],
    title: "The request cannot be read.",
    detail: "Send a complete HTTP/1.1 request whose headers fit.",
  },
  invalid_body: {
    status: [400],
    title: "The request's body is not valid.",
    detail: "Correct each property that `errors` names.",
  },
  invalid_query: {
    status: [400],
    title: "The request's query is not valid.",
    detail: "Correct each parameter that `errors` names.",
  },
  invalid_path: {
    status: [400],
    title: "The request's path is not valid.",
    detail: "Correct each part of the path that `errors` names.",
  },
  no_such_path: {
    status: [404],
    title: "There is nothing at this path.",
    detail: "{path} is not served. Check it, including the service's base path.",
  },
  method_not_allowed: {
    status: [405],
    title: "{method} is not allowed at this path.",
    detail: "Use {allowed}.",
  },
  body_too_large: {
    status: [413],
    title: "The body is too large.",
    detail: "Send at most {limit} bytes.",
  },
  unsupported_media_type: {
    status: [415],
    title: "The content type is not JSON.",
    detail: 'Send JSON in UTF-8, uncompressed, with the header "content-type: application/json".',
  },
  too_many_requests: {
    status: [429],
    title: "Too many requests.",
    detail: "{who} may make {max} requests per minute. Try again in {seconds} s.",
  },
  internal_error: {
    status: [500],
    title: "The service failed unexpectedly.",
    detail:
      "This is a bug, and its cause is in the service's log. Try again; if it happens again, tell the service's owner.",
  },
} as const;
