import { anonymousTotalLimit } from "@dataset-oracle/service/http-server/anonymous-total-limit";
import type { App } from "@dataset-oracle/service/http-server/app";

/** Requests per minute: of a caller, of an operator (which asks for many users), and of all other callers together. */
const PER_CALLER = 30;
const PER_OPERATOR = 600;
const OF_ANONYMOUS = 120;

/**
 * Returns a function that gives the rate limits of a route whose answers cost far more than a report. Each route has
 * its own limit for each caller; the limit of all anonymous callers is one for all routes of the function.
 */
export function costlyRouteLimits(app: App, isOperator: (address: string) => boolean) {
  const perMinute = ({ ip }: { readonly ip: string }) => (isOperator(ip) ? PER_OPERATOR : PER_CALLER);
  const preParsing = anonymousTotalLimit(app, OF_ANONYMOUS, isOperator);
  return (name: string) => ({ config: { rate: { name, perMinute } }, preParsing });
}
