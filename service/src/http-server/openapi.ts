// Importers of this file need the plugin's additions to Fastify's types.
/// <reference types="@fastify/swagger" preserve="true" />

import { PROBLEM_CONTENT_TYPE, Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import swagger from "@fastify/swagger";
import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { App } from "./app.js";

/** The facts about the service as a whole. */
export interface ApiDescription {
  readonly title: string;
  readonly description: string;
  /** The party responsible for the service, in words. */
  readonly contact: string;
  /** The groups of operations, each with its description. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Collects the schemas of all routes registered afterwards. */
export async function gatherSchemas(app: App, { title, description, contact, tags }: ApiDescription): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title,
        description,
        version: "1",
        contact: { name: contact },
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/", description: "The service that serves this document." }],
      // No operation needs a key.
      security: [],
      tags: Object.entries(tags).map(([name, about]) => ({ name, description: about })),
    },
  });
}

/** Adds `GET /openapi.json`, generated once from the schemas that validate requests. */
export function addOpenApi(app: App): void {
  // Writing the document anew for each request would cost more than all else that is done for it.
  let document: string | undefined;
  app.get("/openapi.json", { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.type("application/json; charset=utf-8").send(document);
  });
}

const header = (description: string) => Type.String({ description });

/** The caller's rate limits: the headers of every answer to a request that counts against a limit. */
export const RATE_HEADERS = {
  "RateLimit-Policy": header("The rate limits that this request counts against: q requests in w seconds."),
  RateLimit: header("For each of them, r requests are left, and the count starts again in t seconds."),
};

/** Describes an answer in JSON to a request that counts against a rate limit. */
export const jsonAnswer = <T extends TSchema>(description: string, schema: T) => ({
  description,
  headers: RATE_HEADERS,
  content: { "application/json": { schema } },
});

const RETRY_AFTER = { "Retry-After": header("How long to wait before trying again, in seconds.") };

/** The codes of the problems of any request, by status. */
const ANY_REQUEST = {
  400: ["bad_request"],
  408: ["bad_request"],
  431: ["bad_request"],
  500: ["internal_error"],
} as const;

/** The codes of the problems of a request with a body. */
export const ANY_BODY = {
  400: ["invalid_body"],
  413: ["body_too_large"],
  415: ["unsupported_media_type"],
} as const;

type CodesByStatus<Code extends string> = Readonly<Record<number, readonly Code[]>>;

/**
 * Describes the problems that an operation can be answered with: those of any request, and its own.
 *
 * @param members The members of a problem's body besides those of every problem, by code.
 */
export function problemResponses<Code extends string>(
  own: readonly CodesByStatus<Code>[],
  members: Readonly<Partial<Record<string, TProperties>>> = {},
) {
  const codes = new Map<number, Set<string>>();
  for (const [status, added] of [ANY_REQUEST, ...own].flatMap((byStatus) => Object.entries(byStatus))) {
    codes.set(Number(status), new Set([...(codes.get(Number(status)) ?? []), ...added]));
  }
  return Object.fromEntries(
    [...codes].map(([status, all]) => [status, problemResponse(status, [...all], members)] as const),
  );
}

function problemResponse(
  status: number,
  codes: readonly string[],
  members: Readonly<Partial<Record<string, TProperties>>>,
) {
  const hasMembers = (code: string) => Object.keys(members[code] ?? {}).length > 0;
  const plain = codes.filter((code) => !hasMembers(code));
  const schemas = [
    ...(plain.length > 0 ? [problem(status, plain, {})] : []),
    ...codes.filter(hasMembers).map((code) => problem(status, [code], members[code] ?? {})),
  ];
  const headers = status === 429 ? { ...RATE_HEADERS, ...RETRY_AFTER } : status === 503 ? RETRY_AFTER : {};
  return {
    description: `The problem is ${codes.join(" or ")}.`,
    headers,
    content: { [PROBLEM_CONTENT_TYPE]: { schema: Type.Union(schemas) } },
  };
}

function problem(status: number, codes: readonly string[], members: TProperties): TSchema {
  const { title, code, detail } = Problem.properties;
  const literals = codes.map((each) => Type.Literal(each));
  return Type.Object({
    title,
    status: Type.Literal(status),
    code: Type.Union(literals, { description: code.description ?? "" }),
    detail,
    ...members,
  });
}
