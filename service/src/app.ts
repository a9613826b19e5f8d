import { PROBLEM_CONTENT_TYPE } from "@dataset-oracle/protocol/wire";
import rateLimit, { normalizeIP } from "@fastify/rate-limit";
import { type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance, type FastifyReply } from "fastify";
import type { Logger } from "pino";
import { inRanges } from "./address-ranges.js";
import { endSilentConnections } from "./connections.js";
import { ProblemError } from "./problem.js";

/** The most bytes that a request's body may have. */
export const BODY_LIMIT = 16 * 1024;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;

export interface AppOptions {
  readonly logger: Logger;
  /** Requests a minute that one caller may make. */
  readonly requestsPerMinute: number;
  /** Callers with a limit of their own. */
  readonly reserved?: ReservedShare;
  /** The addresses and ranges of the proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
}

export interface ReservedShare {
  /** Whether it is for the caller at this address. */
  readonly isFor: (address: string) => boolean;
  /** Requests a minute that each of them may make. */
  readonly requestsPerMinute: number;
}

export type App = FastifyInstance<
  import("node:http").Server,
  import("node:http").IncomingMessage,
  import("node:http").ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/**
 * An HTTP service without routes: strict validation by TypeBox, problem+json for every error, a rate limit per caller.
 * Routes are added in a plugin, so that the rate limit sees them.
 */
export async function buildApp(options: AppOptions): Promise<App> {
  const app = Fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    bodyLimit: BODY_LIMIT,
    trustProxy: options.trustedProxies.length > 0 ? inRanges(options.trustedProxies) : false,
    requestTimeout: 10_000,
    connectionTimeout: 120_000,
    return503OnClosing: true,
    frameworkErrors: (error, _request, reply) => void sendProblem(reply as unknown as FastifyReply, toProblem(error)),
  }).withTypeProvider<TypeBoxTypeProvider>();
  endSilentConnections(app);
  app.setValidatorCompiler(TypeBoxValidatorCompiler);
  app.removeContentTypeParser("text/plain");
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    logFailure(request.log, error, problem);
    return sendProblem(reply, problem);
  });
  await app.register(rateLimit, {
    timeWindow: 60_000,
    ...limits(options),
    errorResponseBuilder: (_request, { max, ttl }) => tooManyRequests(max, Math.ceil(ttl / 1000)),
  });
  // Looked up as text: what a stranger asks for is never read as a route's pattern.
  const methodsAt = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    methodsAt.set(url, new Set([...(methodsAt.get(url) ?? []), ...[method].flat()]));
  });
  app.setNotFoundHandler({ preHandler: app.rateLimit() }, (request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "/";
    const allowed = METHODS.filter((method) => methodsAt.get(path)?.has(method));
    return sendProblem(reply, allowed.length > 0 ? methodNotAllowed(request.method, allowed) : noSuchPath(path));
  });
  return app as unknown as App;
}

/** A caller is an IPv4 address, or an IPv6 network of 64 bits; one with a reserved share is its own address. */
function limits({ requestsPerMinute, reserved }: AppOptions) {
  if (reserved === undefined) return { max: requestsPerMinute };
  return {
    max: ({ ip }: { ip: string }) => (reserved.isFor(ip) ? reserved.requestsPerMinute : requestsPerMinute),
    keyGenerator: ({ ip }: { ip: string }) => (reserved.isFor(ip) ? `reserved ${ip}` : normalizeIP(ip)),
  };
}

/** Logs a failure on this side: an unexpected one with its stack, an expected one as what the caller is told. */
export function logFailure(log: FastifyBaseLogger, error: unknown, problem: ProblemError): void {
  if (problem.status < 500) return;
  if (error instanceof ProblemError) log.warn({ code: problem.code, detail: problem.detail }, problem.title);
  else log.error({ err: error }, "request failed");
}

export function sendProblem(reply: FastifyReply, problem: ProblemError): FastifyReply {
  return reply
    .status(problem.status)
    .headers(problem.headers)
    .type(PROBLEM_CONTENT_TYPE)
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problem.toJSON());
}

/** What the caller is told of an error; of an unexpected one nothing but that it happened. */
export function toProblem(thrown: unknown): ProblemError {
  if (thrown instanceof ProblemError) return thrown;
  const error: Partial<FastifyError> = thrown instanceof Error ? thrown : {};
  if (error.validation) return invalidBody(error.validation);
  switch (error.code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unsupportedMediaType();
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return bodyTooLarge();
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new ProblemError({
      title: "The request cannot be read.",
      status: error.statusCode,
      code: "bad_request",
      detail: error.message ?? "Check the request.",
    });
  }
  return new ProblemError({
    title: "Something went wrong here.",
    status: 500,
    code: "internal_error",
    detail: "It is logged. Try again.",
  });
}

interface ValidationFailure {
  readonly instancePath: string;
  readonly message?: string;
}

/** What the validator says, for people. */
const MESSAGES: Readonly<Record<string, string>> = {
  "Expected required property": "is missing",
  "Unexpected property": "is not known here; leave it out",
  "Expected integer": "must be a whole number, without quotes",
  "Expected boolean": "must be true or false, without quotes",
  "Expected string": "must be a string, in quotes",
  "Expected object": "must be a JSON object",
};

function invalidBody(failures: readonly ValidationFailure[]): ProblemError {
  const problems = new Map<string, string>();
  for (const { instancePath, message = "is not valid" } of failures) {
    const property = instancePath.slice(1).replaceAll("~1", "/").replaceAll("~0", "~") || "the body";
    // The first is the cause: a property that is missing is not an integer either.
    if (!problems.has(property)) problems.set(property, MESSAGES[message] ?? message);
  }
  const errors = [...problems].map(([property, problem]) => ({ property, problem }));
  return new ProblemError(
    {
      title: "The request's body is not valid.",
      status: 400,
      code: "invalid_body",
      detail: errors.map(({ property, problem }) => `${property}: ${problem}.`).join(" "),
    },
    { extras: { errors } },
  );
}

function unsupportedMediaType(): ProblemError {
  return new ProblemError({
    title: "The body is not JSON.",
    status: 415,
    code: "unsupported_media_type",
    detail: 'Send JSON with the header "content-type: application/json".',
  });
}

function bodyTooLarge(): ProblemError {
  return new ProblemError({
    title: "The body is too large.",
    status: 413,
    code: "body_too_large",
    detail: `Send at most ${BODY_LIMIT} bytes.`,
  });
}

function methodNotAllowed(method: string, allowed: readonly string[]): ProblemError {
  return new ProblemError(
    {
      title: `${method} is not possible here.`,
      status: 405,
      code: "method_not_allowed",
      detail: `Use ${allowed.join(" or ")}.`,
    },
    { headers: { allow: allowed.join(", ") } },
  );
}

function noSuchPath(path: string): ProblemError {
  return new ProblemError({
    title: "There is nothing at this path.",
    status: 404,
    code: "no_such_path",
    detail: `${path} is not served. Check the path, and the base path of the service.`,
  });
}

export function tooManyRequests(max: number, seconds: number, who = "A caller"): ProblemError {
  return new ProblemError(
    {
      title: "Too many requests.",
      status: 429,
      code: "too_many_requests",
      detail: `${who} may make ${max} a minute. Try again in ${seconds} s.`,
    },
    { headers: { "retry-after": String(seconds) } },
  );
}
