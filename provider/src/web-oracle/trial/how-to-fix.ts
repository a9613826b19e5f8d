import type { TrialStep } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import type { FailureCode } from "../../source/source-failure.js";

/** The ways to fix a failure, by its code, for the author of a spec. */
const FIXES: Partial<Record<FailureCode, string>> = {
  timeout: "Choose a source that answers within 5 s, or a URL with a shorter answer.",
  unreachable: "Check the host's name, and that it answers https with a valid certificate.",
  too_large: "Choose a URL with a shorter answer. The sources of a spec share 1 MiB.",
  redirected: "Write the URL that the redirect leads to.",
  not_text: "Choose a URL that answers JSON in UTF-8.",
  forbidden: "Choose a host on the public internet. Addresses of private networks are never asked.",
  busy: "Try again in a second.",
  throttled: "Try again later. If it happens again, choose a source with a higher rate limit.",
  http_status: "Open the URL yourself. Check its path and query, the headers, and that it needs no key.",
  content_type: "Choose a URL that answers with the content type application/json.",
  not_json: "Choose a URL that answers with valid JSON, in which no object has the same member twice.",
  source_error: "Read what the source says, or change `errorPath` if it is not an error.",
  no_node: "Compare `path` with the answer, and with the arguments.",
  several_nodes: "Make `path` select one node: by an index such as [0], or a filter that only one node passes.",
  path_too_costly: "Write a path with fewer wildcards and filters, or choose a URL with a shorter answer.",
  not_a_number: "Select a number, or a string with one, or change `type`.",
  negative: "A value cannot be negative. Choose a number that never is, or one with an offset.",
  number_too_large: "Lower `decimals`, or select a smaller number.",
  not_a_bool: "Select true or false, or change `type`.",
  not_bytes32: "Select a string of 0x and 64 hex digits, or change `type`.",
  not_a_string: "Select a string, or change `type`.",
  string_too_long: "Select a shorter text, or set `hash` to true to use its keccak256 as the value.",
};

/** Returns how to fix a failure. */
export function howToFix(code: FailureCode, step: TrialStep): string {
  return FIXES[code] ?? `Check the ${step === "fetched" ? "request" : "path and the type"} of the source.`;
}
