import { BatchReportRequest, ReportAnswer, ReportRequest, SignedBatchReport } from "@dataset-oracle/protocol/wire";
import { anonymousLimit } from "@dataset-oracle/service/anonymous-limit";
import type { App } from "@dataset-oracle/service/app";
import { Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import type { Decider } from "./decider.js";
import { notReady } from "./problems.js";
import type { Reporter } from "./reporter.js";
import type { Caller } from "./value-reader.js";

const health = <S extends string>(status: S) => ({
  schema: { response: { 200: Type.Object({ status: Type.Literal(status) }) } },
});

/** Enough for `MAX_BATCH_KEYS` keys of `MAX_KEY_BYTES` in hex, with quotes and commas, and the other properties. */
const BATCH_BODY_LIMIT = 144 * 1024;

interface RoutesParts {
  readonly reporter: Reporter;
  readonly decider: Pick<Decider, "isReady">;
  readonly isOperator: (address: string) => boolean;
  /** How many reports per minute all callers except the operators may ask for together. */
  readonly anonymousPerMinute: number;
}

/** Adds `POST /report` and `POST /report/batch`, `GET /live` (the process answers) and `GET /ready` (it can sign). */
export function routes({ reporter, decider, isOperator, anonymousPerMinute }: RoutesParts) {
  return async (app: App): Promise<void> => {
    const preParsing = anonymousLimit(app, anonymousPerMinute, isOperator);
    const callerOf = ({ ip, trace }: FastifyRequest): Caller => ({ isReserved: isOperator(ip), trace });
    app.post("/report", { schema: { body: ReportRequest, response: { 200: ReportAnswer } }, preParsing }, (request) =>
      reporter.report(request.body, callerOf(request)),
    );
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
      if (!decider.isReady()) throw notReady();
      return { status: "ready" as const };
    });
  };
}
