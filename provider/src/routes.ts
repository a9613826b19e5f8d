import {
  BatchReportRequest,
  ReportAnswer,
  ReportRequest,
  SignedBatchReport,
} from "@dataset-oracle/protocol/http-schemas/reports";
import type { App } from "@dataset-oracle/service/http-server/app";
import { callerIdOf } from "@dataset-oracle/service/http-server/caller-address";
import {
  ANY_BODY,
  type ApiDescription,
  addOpenApi,
  gatherSchemas,
  jsonAnswer,
  problemResponses,
} from "@dataset-oracle/service/http-server/openapi";
import { anonymousTotalLimit } from "@dataset-oracle/service/http-server/rate-limit";
import { type TProperties, Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import type { TracedCaller } from "./callers/caller.js";
import type { Decider } from "./decisions/decider.js";
import { PROVIDER_PROBLEMS } from "./problems.js";
import type { Reporter } from "./reports/reporter.js";

export const API: ApiDescription = {
  title: "Dataset Oracle data provider",
  description:
    "Reads values from web sources and signs reports about them, for anyone who asks. The dataset contract verifies the " +
    "signatures, so whoever submits a report need not be trusted. No API key is needed.",
  contact: "The provider's owner",
  tags: { reports: "Signed reports.", health: "The state of the process, for whoever runs it." },
};

const DECLARED = Object.entries<{ readonly status: readonly [number]; readonly members?: TProperties }>(
  PROVIDER_PROBLEMS,
);

/** The members that the bodies of these problems have in addition to those of every problem, by code. */
const MEMBERS = {
  invalid_body: { errors: Type.Optional(Type.Array(Type.Object({ property: Type.String(), problem: Type.String() }))) },
  ...Object.fromEntries(DECLARED.map(([code, { members = {} }]) => [code, members])),
};

const LIMITED = { 429: ["too_many_requests"] } as const;

/** The problems of a request for a report, or for a row of a batch. */
const REPORT_PROBLEMS = problemResponses(
  [ANY_BODY, ...DECLARED.map(([code, { status }]) => ({ [status[0]]: [code] }))],
  MEMBERS,
);

const reportSchema = {
  tags: ["reports"],
  operationId: "signReport",
  summary: "Signs a report about a key at a round.",
  description: "The provider signs one value per key and round, and returns the same report whoever asks.",
  body: ReportRequest,
  response: { 200: jsonAnswer("The report.", ReportAnswer), ...REPORT_PROBLEMS },
};

const rowSchema = {
  tags: ["reports"],
  operationId: "signBatchReport",
  summary: "Signs a row of a batch: the values of several keys of a dataset at a round.",
  description: "Its values are those of the reports of the same keys and round.",
  body: BatchReportRequest,
  response: { 200: jsonAnswer("The row.", SignedBatchReport), ...REPORT_PROBLEMS },
};

const health = <S extends string>(status: S) => Type.Object({ status: Type.Literal(status) });

const liveSchema = {
  tags: ["health"],
  operationId: "isLive",
  summary: "Succeeds while the process runs.",
  description: "It reads nothing, so it fails only if the process hangs or has ended.",
  response: { 200: jsonAnswer("The process runs.", health("live")), ...problemResponses([LIMITED]) },
};

const readySchema = {
  tags: ["health"],
  operationId: "isReady",
  summary: "Succeeds while reports can be signed.",
  description: "After a start, a provider signs nothing for some seconds: `detail` says until when.",
  response: {
    200: jsonAnswer("It can sign.", health("ready")),
    ...problemResponses([LIMITED, { 503: ["not_ready"] }]),
  },
};

/** Enough for `MAX_BATCH_KEYS` keys of `MAX_KEY_BYTES` in hex, with quotes and commas, and the other properties. */
const BATCH_BODY_LIMIT = 144 * 1024;

interface RouteSettings {
  readonly isOperator: (address: string) => boolean;
  /** Called when an operator asks for a report. */
  readonly onOperator: () => void;
  /** How many reports per minute all callers except the operators may ask for together. */
  readonly anonymousPerMinute: number;
}

/**
 * Adds `POST /report` and `/report/batch`, and `GET /live` (the process answers), `/ready` (it can sign) and
 * `/openapi.json`.
 */
export function routes(
  reporter: Reporter,
  decider: Pick<Decider, "unreadiness">,
  { isOperator, onOperator, anonymousPerMinute }: RouteSettings,
) {
  return async (app: App): Promise<void> => {
    const preParsing = anonymousTotalLimit(app, anonymousPerMinute, isOperator);
    const callerOf = ({ ip, trace }: FastifyRequest): TracedCaller => {
      const mayUseReserve = isOperator(ip);
      if (mayUseReserve) onOperator();
      return { id: mayUseReserve ? ip : callerIdOf(ip), mayUseReserve, trace };
    };
    await gatherSchemas(app, API);
    addOpenApi(app);
    app.post("/report", { schema: reportSchema, preParsing }, (request) =>
      reporter.report(request.body, callerOf(request)),
    );
    app.post("/report/batch", { schema: rowSchema, preParsing, bodyLimit: BATCH_BODY_LIMIT }, (request) =>
      reporter.row(request.body, callerOf(request)),
    );
    app.get("/live", { schema: liveSchema }, async () => ({ status: "live" as const }));
    app.get("/ready", { schema: readySchema }, async () => {
      const problem = await decider.unreadiness();
      if (problem !== null) throw problem;
      return { status: "ready" as const };
    });
  };
}
