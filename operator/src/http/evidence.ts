import { parseAddress } from "@dataset-oracle/protocol/address";
import { EvidenceAnswer, EvidenceQuery, MAX_EVIDENCE_TEXT } from "@dataset-oracle/protocol/http-schemas/evidence";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { App } from "@dataset-oracle/service/http-server/app";
import { tooManyRequests } from "@dataset-oracle/service/http-server/http-problems";
import { globalRateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { Value } from "@sinclair/typebox/value";
import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { DataPoint } from "../data-point.js";
import type { Operator } from "../operator.js";
import { evidenceFailed, invalidParameter, noEvidence, unknownProvider } from "../problems.js";
import { askProvider } from "../providers/ask-provider.js";
import type { Fail, Failure } from "../providers/failure.js";
import { postQuestion } from "../providers/post-question.js";
import { addQueryStringRoute } from "./add-query-string-route.js";
import { costlyRate } from "./costly-rate.js";
import { findDataPoint } from "./find-data-point.js";
import { dataPointProblems, INVALID_QUERY } from "./problem-responses.js";

/** A caller's limit is that of data requests divided by this, because an answer can have several megabytes. */
const COST_IN_REQUESTS = 3;
/** Providers limit what they answer to one operator, so all callers together have a limit too. */
const ALL_CALLERS_PER_MINUTE = 120;
/** The maximum number of questions to providers at a time. */
const MAX_AT_ONCE = 8;
/** The maximum text that is remembered, in characters. Evidence does not change. */
const MAX_CACHED = 4 * MAX_EVIDENCE_TEXT;
/** JSON escapes make text longer. */
const MAX_ANSWER_BYTES = 3 * MAX_EVIDENCE_TEXT;

const schema = {
  tags: ["data"],
  operationId: "readEvidence",
  summary: "Shows the evidence from which one provider computed its value.",
  description:
    "The operator asks the provider, at the endpoint that it knows, and checks that the answer is about this " +
    "value and that each text has its hash. Save the answer, and `provider replay` computes the value again, offline. " +
    "Each provider decides how long it keeps evidence, and whether it shows it.",
  querystring: EvidenceQuery,
  response: {
    200: jsonAnswer("The evidence.", EvidenceAnswer),
    ...dataPointProblems(INVALID_QUERY, { 404: ["unknown_provider", "no_evidence"], 502: ["evidence_failed"] }),
  },
};

/** Identifies the decision that a provider is asked about. */
interface DecisionId {
  readonly dataPoint: DataPoint;
  readonly provider: Address;
  readonly round: number;
}

/** Adds `GET /evidence`. */
export function addEvidence(app: App, operator: Operator, requestsPerMinute: number): void {
  const rate = costlyRate("evidence", requestsPerMinute, COST_IN_REQUESTS);
  const limitAll = globalRateLimiter(app, "evidence-of-all", ALL_CALLERS_PER_MINUTE);
  const known = new LRUCache<string, EvidenceAnswer>({ maxSize: MAX_CACHED, sizeCalculation: sizeOf });
  const asked = new Map<string, Promise<EvidenceAnswer>>();
  addQueryStringRoute(app, "/evidence", schema, rate, async (request, reply): Promise<EvidenceAnswer> => {
    const decision = decisionIdOf(operator, request.query);
    const id = `${decision.dataPoint.id} ${decision.round} ${decision.provider}`;
    const shared = known.get(id) ?? asked.get(id);
    if (shared !== undefined) return shared;
    if (asked.size >= MAX_AT_ONCE) throw tooManyRequests(MAX_AT_ONCE, 1, "All callers together", "at a time");
    const limited = limitAll(request, reply);
    const answer = limited.then(() => ask(operator, decision)).finally(() => asked.delete(id));
    asked.set(id, answer);
    known.set(id, await answer);
    return answer;
  });
}

/** @throws ProblemError unless the operator knows the provider's endpoint. */
function decisionIdOf({ networks }: Operator, query: EvidenceQuery): DecisionId {
  const dataPoint = findDataPoint(networks, query, invalidParameter);
  const provider = parseAddress(query.provider);
  if (!provider.ok) throw invalidParameter("provider", provider.error);
  if (dataPoint.network.providerUrls.urlOf(provider.value) === undefined) throw unknownProvider(provider.value);
  return { dataPoint, provider: provider.value, round: query.timestamp };
}

async function ask({ closing }: Operator, decision: DecisionId): Promise<EvidenceAnswer> {
  const { dataPoint, provider, round } = decision;
  const { network, dataset, key } = dataPoint;
  const body = JSON.stringify({ network_id: network.chainId, dataset: dataset.address, key, timestamp: round });
  const read = (json: unknown, _: Address, fail: Fail) => readAnswer(json, decision, fail);
  const limits = { timeoutMs: network.settings.providerTimeoutMs, maxBytes: MAX_ANSWER_BYTES };
  const send = (base: string, signal: AbortSignal) =>
    postQuestion(network.http, base, { path: "/evidence", body, limits }, signal);
  const answer = await askProvider<EvidenceAnswer>({ send, read }, provider, network.providerUrls, closing);
  if (!("kind" in answer)) return answer;
  throw answer.refuses === null ? evidenceFailed(answer) : noEvidence(answer);
}

/** Checks that an answer is evidence for the decision in question, and that its texts match their hashes. */
function readAnswer(json: unknown, { dataPoint, provider, round }: DecisionId, fail: Fail): EvidenceAnswer | Failure {
  if (!Value.Check(EvidenceAnswer, json)) return fail("invalid_report", "answered with something other than evidence");
  const { record, texts } = json;
  const { network, dataset, key } = dataPoint;
  const isSameDecision =
    json.provider === provider &&
    record.network_id === network.chainId &&
    record.dataset === dataset.address &&
    record.key === key &&
    record.timestamp === round;
  if (!isSameDecision) return fail("other_report", "answered with the evidence for another decision");
  const textsMatchHashes = Object.entries(texts).every(([hash, text]) => sha256(text) === hash);
  if (!textsMatchHashes) return fail("invalid_report", "answered with texts that do not match their hashes");
  return json;
}

const sizeOf = ({ texts }: EvidenceAnswer) => Object.values(texts).reduce((sum, { length }) => sum + length, 1_000);
