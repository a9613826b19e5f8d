import { finished } from "node:stream";
import { EvidenceAnswer } from "@dataset-oracle/protocol/http-schemas/evidence";
import { ReportRequest } from "@dataset-oracle/protocol/http-schemas/reports";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import type { FastifyReply } from "fastify";
import type { Address } from "viem";
import { costlyRouteLimits } from "../costly-route-limits.js";
import { findDataset } from "../data-point.js";
import { EVIDENCE_PROBLEMS } from "../problem-responses.js";
import { evidenceBusy, evidenceNotPublic } from "../problems.js";
import type { Served, ServedKey } from "../served-keys.js";
import type { EvidenceStore } from "./evidence-store.js";

/** The maximum number of answers made for or sent to anonymous callers at a time, because each can have megabytes. */
const MAX_AT_ONCE = 4;
/** An anonymous caller is disconnected when its answer takes longer than this to send, in milliseconds. */
const SEND_MS = 30_000;

const schema = {
  tags: ["reports"],
  operationId: "readEvidence",
  summary: "Shows the evidence for a value.",
  description:
    "Answers with the sources' answers, the rules, and each source's part in the value of a key at a round that this " +
    "provider signed. `provider replay` computes the value again from the answer, offline. The provider's owner " +
    "decides how much evidence is kept, and whether it is shown.",
  body: ReportRequest,
  response: {
    200: jsonAnswer("The evidence.", EvidenceAnswer),
    ...EVIDENCE_PROBLEMS,
  },
};

export interface EvidenceRouteParts {
  /** Null when evidence is not shown. */
  readonly stores: Readonly<Record<ServedKey["kind"], Pick<EvidenceStore, "find">>> | null;
  readonly served: Served;
  /** The signing address. */
  readonly provider: Address;
  readonly isOperator: (address: string) => boolean;
}

/**
 * Adds `POST /evidence`. It reads only files whose names it makes itself, of datasets that are served, and asks neither a
 * source nor the chain.
 */
export function addEvidenceRoute(app: App, { stores, served, provider, isOperator }: EvidenceRouteParts): void {
  const limits = costlyRouteLimits(app, isOperator)("evidence");
  const options = { schema, ...limits, serializerCompiler: () => JSON.stringify };
  let atOnce = 0;

  const count = ({ raw }: FastifyReply) => {
    if (atOnce >= MAX_AT_ONCE) throw evidenceBusy();
    atOnce += 1;
    const timer = setTimeout(() => raw.destroy(), SEND_MS);
    finished(raw, () => {
      atOnce -= 1;
      clearTimeout(timer);
    });
  };

  app.post("/evidence", options, async ({ body, ip }, reply): Promise<EvidenceAnswer> => {
    if (stores === null) throw evidenceNotPublic();
    const dataset = findDataset(served, body);
    if (!isOperator(ip)) count(reply);
    const store = stores[dataset.keyForm === "WEB_ORACLE" ? "web_oracle" : "spot_price"];
    return { provider, ...(await store.find(dataset, body.key, BigInt(body.timestamp))) };
  });
}
