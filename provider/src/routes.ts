import { ReportRequest, SignedReport } from "@dataset-oracle/protocol/wire";
import type { App } from "@dataset-oracle/service/app";
import { Type } from "@sinclair/typebox";
import { notReady } from "./problems.js";
import type { Reporter } from "./reporter.js";

const health = <S extends string>(status: S) => ({
  schema: { response: { 200: Type.Object({ status: Type.Literal(status) }) } },
});

/** `POST /report`; `GET /live`: the process answers; `GET /ready`: it can sign what operators ask for. */
export function routes(reporter: Reporter) {
  return async (app: App): Promise<void> => {
    app.post("/report", { schema: { body: ReportRequest, response: { 200: SignedReport } } }, (request) =>
      reporter.report(request.body),
    );
    app.get("/live", health("live"), async () => ({ status: "live" as const }));
    app.get("/ready", health("ready"), async () => {
      if (!reporter.isReady()) throw notReady();
      return { status: "ready" as const };
    });
  };
}
