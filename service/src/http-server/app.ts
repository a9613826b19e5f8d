import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { PROBLEM_CONTENT_TYPE } from "@dataset-oracle/protocol/http-schemas/problem";
import rateLimit from "@fastify/rate-limit";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Context } from "../process/context.js";
import { stackOf } from "../process/logger.js";
import { callerIdOf, inRanges, normalizeForwardedFor } from "./caller-address.js";
import {
  BODY_LIMIT,
  CONNECTION_LIMITS,
  endConnectionsAtClose,
  limitConnectionsPerCaller,
  MAX_HEADER_BYTES,
  MaxConnectionsPerCaller,
} from "./connection-limits.js";
import { methodNotAllowed, noSuchPath, type ProblemOf, toProblem, unreadable } from "./http-problems.js";
import type { ProblemError } from "./problem-error.js";
import {
  bodyLimiter,
  limitChunks,
  limitFloods,
  MonotonicCounters,
  type RateLimiter,
  type RequestLimit,
  rateLimiter,
} from "./rate-limit.js";
import { RequestLog } from "./request-log.js";
import { parseStrictJson } from "./strict-json.js";
import { isLogged, requestIdOf, type Trace, traceFieldsOf, traceOf } from "./trace.js";
import { compileValidator } from "./validation.js";

declare module "fastify" {
  interface FastifyRequest {
    /** The code of the problem in the answer; empty when there is none. */
    problemCode: string;
    trace: Trace | null;
    /** Turns an error of this request into the problem that is answered, and logs it. */
    toProblem(error: unknown): ProblemError;
  }
  interface FastifyContextConfig {
    /** The limit of this route in place of the service's; null for none. */
    rate?: RequestLimit | null;
  }
}

/** Answers are data: browsers must not run, frame or sniff them. */
const SECURE_HEADERS = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;

type AppContext = Pick<Context, "logger" | "clock" | "random">;

interface AppSettings {
  /** The maximum number of requests a minute of one caller. */
  readonly requestsPerMinute: number;
  /** Connections that may be open at a time. Further ones are closed at once. */
  readonly maxConnections: number;
  /** How many of them one caller may have, unless it is a trusted proxy or has a reserved share. */
  readonly maxConnectionsPerCaller?: number;
  /** Callers with a limit of their own. */
  readonly reserved?: ReservedShare;
  /** Addresses and ranges of the proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** By default the service has no errors of its own that are expected. */
  readonly problemOf?: ProblemOf;
}

interface ReservedShare {
  /** Returns true if the caller at this address has a share. */
  readonly isFor: (address: string) => boolean;
  /** The maximum number of requests a minute of each such caller. */
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
 * Builds an HTTP service without routes: strict validation by TypeBox, problem+json for every error, and rate limits.
 */
export async function buildApp(context: AppContext, settings: AppSettings): Promise<App> {
  const app = openServer(context, settings);
  logRequests(app, context, settings);
  endConnectionsAtClose(app);
  app.setValidatorCompiler(compileValidator);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, parseStrictJson);
  app.setErrorHandler((error, request, reply) => sendProblem(reply, request.toProblem(error)));
  await limitRequests(app, context, settings);
  answerOtherPaths(app);
  return app;
}

/** Makes the server, with the limits of its connections. */
function openServer({ logger, clock, random }: AppContext, settings: AppSettings): App {
  const { trustedProxies, requestsPerMinute, maxConnectionsPerCaller = MaxConnectionsPerCaller.default } = settings;
  const { reserved, problemOf = () => null } = settings;
  const isTrusted = inRanges(trustedProxies);
  const app = Fastify({
    loggerInstance: logger as FastifyBaseLogger,
    // A request is logged once, when it is answered, with its trace.
    childLoggerFactory: (own) => own,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    // A gateway's paths contain calldata. Their length is bounded by the limit of a request's head.
    // A base URL with a slash at its end gives paths that begin with two, and some clients end paths with one.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES, ignoreDuplicateSlashes: true, ignoreTrailingSlash: true },
    trustProxy: trustedProxies.length > 0 ? isTrusted : false,
    ...CONNECTION_LIMITS,
    return503OnClosing: true,
    genReqId: ({ headers }) => requestIdOf(headers, random),
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, _request, reply) =>
      void sendProblem(reply as unknown as FastifyReply, toProblem(error, problemOf)),
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.server.maxConnections = settings.maxConnections;
  const isUnlimited = (address: string) => isTrusted(address) || reserved?.isFor(address) === true;
  limitFloods(app.server, requestsPerMinute, isUnlimited, clock);
  limitConnectionsPerCaller(app.server, maxConnectionsPerCaller, isUnlimited);
  app.decorateRequest("problemCode", "");
  app.decorateRequest("trace", null);
  app.decorateRequest("toProblem", function (error) {
    const problem = toProblem(error, problemOf, this.routeOptions);
    this.problemCode = problem.code;
    logFailure(this, error, problem);
    return problem;
  });
  return app as unknown as App;
}

/** Traces each request, and logs it once it is answered. */
function logRequests(app: App, { logger, random }: AppContext, { reserved }: AppSettings): void {
  const requestLog = new RequestLog(logger, (address) => reserved?.isFor(address) === true);
  app.addHook("onRequest", (request, reply, done) => {
    // `request.ip` reads this header whenever it is asked for.
    const { headers } = request.raw;
    const forwardedFor = headers["x-forwarded-for"];
    if (forwardedFor !== undefined) headers["x-forwarded-for"] = normalizeForwardedFor(String(forwardedFor));
    reply.headers(SECURE_HEADERS).header("x-request-id", request.id);
    request.trace = traceOf(request.headers, request.id, requestLog.begin(request.ip), random);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    requestLog.answered(request, reply);
    done();
  });
  app.addHook("onClose", async () => requestLog.flush());
}

/** Refuses a request above its limit before its body is read, so that it costs little. */
async function limitRequests(app: App, { clock }: AppContext, settings: AppSettings): Promise<void> {
  const store = class extends MonotonicCounters {
    constructor() {
      super(clock);
    }
  };
  await app.register(rateLimit, { global: false, store });
  const limit = rateLimiter(app, limitOf(settings));
  const limitBodies = bodyLimiter(clock, settings.requestsPerMinute);
  const limitersOfRoutes = new Map<RequestLimit, RateLimiter>();
  const limiterOfRoute = (own: RequestLimit) => {
    const limiter = limitersOfRoutes.get(own) ?? rateLimiter(app, own);
    limitersOfRoutes.set(own, limiter);
    return limiter;
  };
  app.addHook("preParsing", async (request, reply, body) => {
    const own = request.routeOptions.config.rate;
    if (own === undefined) await limit(request, reply);
    else if (own !== null) await limiterOfRoute(own)(request, reply);
    if (settings.reserved?.isFor(request.ip) !== true) limitBodies(request);
    return request.headers["transfer-encoding"] === undefined ? body : limitChunks(body);
  });
}

/** Answers requests that no route takes: the path may be served with other methods. */
function answerOtherPaths(app: App): void {
  const routes: { readonly pattern: string; readonly methods: readonly string[] }[] = [];
  app.addHook("onRoute", ({ url, method }) => void routes.push({ pattern: url, methods: [method].flat() }));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "/";
    const methods = routes.flatMap((route) => (isPathOf(route.pattern, path) ? route.methods : []));
    const allowed = METHODS.filter((method) => methods.includes(method));
    return sendProblem(reply, allowed.length > 0 ? methodNotAllowed(request.method, allowed) : noSuchPath(path));
  });
}

/**
 * Reports whether a path has the form of a route's pattern. A parameter stands for one part of it; slashes that the
 * router ignores separate nothing.
 */
function isPathOf(pattern: string, path: string): boolean {
  const partsOf = (text: string) => text.split("/").filter((part) => part !== "");
  const [patternParts, parts] = [partsOf(pattern), partsOf(path)];
  return (
    patternParts.length === parts.length &&
    patternParts.every((part, index) => part.startsWith(":") || part === parts[index])
  );
}

/** Returns the service's limit. Callers with a reserved share are counted by address, even in one IPv6 network. */
function limitOf({ requestsPerMinute, reserved }: AppSettings): RequestLimit {
  const name = "requests";
  if (reserved === undefined) return { name, perMinute: requestsPerMinute };
  return {
    name,
    perMinute: ({ ip }) => (reserved.isFor(ip) ? reserved.requestsPerMinute : requestsPerMinute),
    callerOf: ({ ip }) => (reserved.isFor(ip) ? `reserved ${ip}` : callerIdOf(ip)),
  };
}

/** Answers bytes that Node could not parse as a request. Fastify never sees them, so this writes to the socket. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const problem = unreadable(error.code);
  const body = JSON.stringify(problem);
  const headers = {
    ...SECURE_HEADERS,
    "content-type": PROBLEM_CONTENT_TYPE,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join("")}\r\n${body}`);
}

/** Logs a failure with a 5xx status: an unexpected error with its stack, a problem with its code and detail. */
function logFailure(
  { log, trace }: Pick<FastifyRequest, "log" | "trace">,
  error: unknown,
  problem: ProblemError,
): void {
  if (problem.status < 500 || !isLogged(trace)) return;
  const fields = traceFieldsOf(trace);
  const { code, detail, title, logFields } = problem;
  if (code === "internal_error") log.error({ ...fields, reason: stackOf(error) }, "request failed");
  else log.warn({ ...fields, ...logFields, code, detail }, title);
}

function sendProblem(reply: FastifyReply, problem: ProblemError): FastifyReply {
  reply.request.problemCode = problem.code;
  return reply
    .status(problem.status)
    .headers(problem.headers)
    .type(PROBLEM_CONTENT_TYPE)
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problem.toJSON());
}
