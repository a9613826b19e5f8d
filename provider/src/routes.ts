import { ReportRequest, SignedReport } from "@dataset-oracle/protocol/wire";
import type { App } from "@dataset-oracle/service/app";
import { Type } from "@sinclair/typebox";
import type { Reporter } from "./reporter.js";

/** `POST /report` and `GET /live`. */
export function routes(reporter: Reporter) {
  return async (app: App): Promise<void> => {
    app.post("/report", { schema: { body: ReportRequest, response: { 200: SignedReport } } }, (request) =>
      reporter.report(request.body),
    );
    app.get("/live", { schema: { response: { 200: Type.Object({ status: Type.Literal("live") }) } } }, async () => ({
      status: "live" as const,
    }));
  };
}
