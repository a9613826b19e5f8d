import type {
  BatchReportRequest,
  ReportAnswer,
  ReportRequest,
  SignedBatchReport,
} from "@dataset-oracle/protocol/http-schemas/reports";
import type { TracedCaller } from "./caller.js";
import { findDataPoint, findDataset } from "./data-point.js";
import type { Decider } from "./decisions/decider.js";
import type { Decision } from "./decisions/decision-memory.js";
import type { ReportSigner } from "./report-signer.js";
import type { Served } from "./served-keys.js";
import type { WebOracleKeyFinder } from "./web-oracle/web-oracle-key-finder.js";

interface ReporterParts {
  readonly served: Served;
  /** Null when the Web Oracle's keys are not served. */
  readonly webOracleKeys: Pick<WebOracleKeyFinder, "find"> | null;
  readonly decider: Decider;
  readonly signer: ReportSigner;
}

/** Answers requests for reports and rows: finds the data points, decides their values, signs the decisions. */
export class Reporter {
  constructor(private readonly parts: ReporterParts) {}

  /** @throws ProblemError when the request is refused; then nothing was signed. */
  async report(request: ReportRequest, caller: TracedCaller): Promise<ReportAnswer> {
    const { served, webOracleKeys, decider, signer } = this.parts;
    const dataset = findDataset(served, request);
    const dataPoint = await findDataPoint(dataset, request.key, webOracleKeys, caller);
    const round = BigInt(request.timestamp);
    const [decision] = await decider.decide([dataPoint], round, caller);
    const report = await signer.signReport(dataPoint, round, decision as Decision, caller.trace);
    const sources = decider.notesOf(dataPoint, round);
    return sources === undefined ? report : { ...report, sources };
  }

  /** @throws ProblemError when the request is refused; then nothing was signed. */
  async row(request: BatchReportRequest, caller: TracedCaller): Promise<SignedBatchReport> {
    const { served, webOracleKeys, decider, signer } = this.parts;
    const dataset = findDataset(served, request);
    const finding = request.keys.map((key) => findDataPoint(dataset, key, webOracleKeys, caller));
    // Of several problems, the answer is the first key's, not the one that was found first.
    await Promise.allSettled(finding);
    const dataPoints = await Promise.all(finding);
    const round = BigInt(request.timestamp);
    const decisions = await decider.decide(dataPoints, round, caller);
    const keys = dataPoints.map(({ key }) => key.key);
    return signer.signRow(dataset, keys, round, decisions, caller.trace);
  }
}
