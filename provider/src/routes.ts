import { BatchReportRequest, ReportAnswer, ReportRequest, SignedBatchReport } from "@dataset-oracle/protocol/wire";
import { anonymousLimit } from "@dataset-oracle/service/anonymous-limit";
import type { App } from "@dataset-oracle/service/app";
import { Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { notReady } from "./problems.js";
import type { Caller, Reporter } from "./reporter.js";

const health = <S extends string>(status: S) => ({
  schema: { response: { 200: Type.Object({ status: Type.Literal(status) }) } },
});

/** For `MAX_BATCH_KEYS` keys of `MAX_KEY_BYTES` in hex, with quotes and commas, and the rest. */
const BATCH_BODY_LIMIT = 144 * 1024;

/**
 * `POST /report`; `POST /report/batch`; `GET /live`: the process answers; `GET /ready`: it can sign what operators ask for.
 *
 * @param strangersPerMinute How many reports all callers but the operators may ask for together.
 */
export function routes(reporter: Reporter, isOperator: (address: string) => boolean, strangersPerMinute: number) {
  return async (app: App): Promise<void> => {
    const preParsing = anonymousLimit(app, strangersPerMinute, isOperator);
    const schema = { body: ReportRequest, response: { 200: ReportAnswer } };
    const callerOf = ({ ip, trace }: FastifyRequest): Caller => ({ isReserved: isOperator(ip), trace });
    app.post("/report", { schema, preParsing }, (request) => reporter.report(request.body, callerOf(request)));
    app.post(
      "/report/batch",
      {
        schema: { body: BatchReportRequest, response: { 200: SignedBatchReport } },
        preParsing,
        bodyLimit: BATCH_BODY_LIMIT,
      },
      (request) => reporter.row(request.body, callerOf(request)),
    );
    app.get("/live", health("live"), async () => ({ status: "live" as const }));
    app.get("/ready", health("ready"), async () => {
      if (!reporter.isReady()) throw notReady();
      return { status: "ready" as const };
    });
  };
}
