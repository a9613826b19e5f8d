import {
  BatchReportRequest,
  ReportAnswer,
  ReportRequest,
  SignedBatchReport,
} from "@dataset-oracle/protocol/http-schemas/reports";
import { anonymousTotalLimit } from "@dataset-oracle/service/http-server/anonymous-total-limit";
import type { App } from "@dataset-oracle/service/http-server/app";
import { addOpenApi, gatherSchemas } from "@dataset-oracle/service/http-server/openapi";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import { callerFinder } from "./caller.js";
import type { Decider } from "./decisions/decider.js";
import { API } from "./openapi.js";
import { LIVE_PROBLEMS, READY_PROBLEMS, REPORT_PROBLEMS } from "./problem-responses.js";
import type { Reporter } from "./reporter.js";

const reportSchema = {
  tags: ["reports"],
  operationId: "signReport",
  summary: "Signs a report about a key at a round.",
  description: "The provider signs one value per key and round, and returns the same report whoever asks.",
  body: ReportRequest,
  response: {
    200: jsonAnswer("The report.", ReportAnswer),
    ...REPORT_PROBLEMS,
  },
};

const rowSchema = {
  tags: ["reports"],
  operationId: "signBatchReport",
  summary: "Signs a row of a batch: the values of several keys of a dataset at a round.",
  description: "Its values are those of the reports of the same keys and round.",
  body: BatchReportRequest,
  response: {
    200: jsonAnswer("The row.", SignedBatchReport),
    ...REPORT_PROBLEMS,
  },
};

const health = <S extends string>(status: S) => Type.Object({ status: Type.Literal(status) });

const liveSchema = {
  tags: ["health"],
  operationId: "isLive",
  summary: "Succeeds while the process runs.",
  description: "It reads nothing, so it fails only if the process hangs or has ended.",
  response: {
    200: jsonAnswer("The process runs.", health("live")),
    ...LIVE_PROBLEMS,
  },
};

const readySchema = {
  tags: ["health"],
  operationId: "isReady",
  summary: "Succeeds while reports can be signed.",
  description: "After a start, a provider signs nothing for some seconds: `detail` says until when.",
  response: {
    200: jsonAnswer("It can sign.", health("ready")),
    ...READY_PROBLEMS,
  },
};

/** Enough for `MAX_BATCH_KEYS` keys of `MAX_KEY_BYTES` in hex, with quotes and commas, and the other properties. */
const BATCH_BODY_LIMIT = 144 * 1024;

interface RoutesParts {
  readonly reporter: Reporter;
  readonly decider: Pick<Decider, "unreadiness">;
  readonly isOperator: (address: string) => boolean;
  /** How many reports per minute all callers except the operators may ask for together. */
  readonly anonymousPerMinute: number;
}

/**
 * Adds `POST /report` and `/report/batch`, and `GET /live` (the process answers), `/ready` (it can sign) and
 * `/openapi.json`.
 */
export function routes({ reporter, decider, isOperator, anonymousPerMinute }: RoutesParts) {
  return async (app: App): Promise<void> => {
    const preParsing = anonymousTotalLimit(app, anonymousPerMinute, isOperator);
    const callerOf = callerFinder(isOperator);
    await gatherSchemas(app, API);
    addOpenApi(app);
    app.post("/report", { schema: reportSchema, preParsing }, (request) =>
      reporter.report(request.body, callerOf(request)),
    );
    app.post(
      "/report/batch",
      {
        schema: rowSchema,
        preParsing,
        bodyLimit: BATCH_BODY_LIMIT,
      },
      (request) => reporter.row(request.body, callerOf(request)),
    );
    app.get("/live", { schema: liveSchema }, async () => ({ status: "live" as const }));
    app.get("/ready", { schema: readySchema }, async () => {
      const problem = await decider.unreadiness();
      if (problem !== null) throw problem;
      return { status: "ready" as const };
    });
  };
}
