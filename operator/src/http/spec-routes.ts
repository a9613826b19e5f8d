import { parseAddress } from "@dataset-oracle/protocol/address";
import {
  type AdviceProgress,
  DatasetAdviceRequest,
  SpecAdvice,
} from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { DatasetTrialRequest, SpecTrial } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import type { App } from "@dataset-oracle/service/http-server/app";
import { globalRateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import { ANY_BODY, jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import type { FastifyReply } from "fastify";
import type { Address } from "viem";
import type { Dataset, Network } from "../network.js";
import type { Operator } from "../operator.js";
import { invalidProperty, notWebOracle, trialsBusy, trialsOff, unknownProvider } from "../problems.js";
import { adviseOnSpec } from "../trials/advise-on-spec.js";
import { firstTrial } from "../trials/first-trial.js";
import { acceptsEventStream } from "./accept-header.js";
import { costlyRate } from "./costly-rate.js";
import { eventStream, streamedAnswer } from "./event-stream.js";
import { findDataset } from "./find-data-point.js";
import { datasetProblems } from "./problem-responses.js";

/** A caller's limit is that of data requests divided by this, because trials and advice make the providers work. */
const TRIAL_COST_IN_REQUESTS = 2;
const ADVICE_COST_IN_REQUESTS = 10;
/** The limits of all callers together: providers limit what one operator may cause. */
const TRIALS_OF_ALL = 240;
const MAX_TRIALS_AT_ONCE = 8;
const MAX_SAMPLINGS_AT_ONCE = 2;
/** The wait, in seconds, that callers are told when that many are running. */
const RETRY_TRIAL = 1;
const RETRY_SAMPLING = 30;
/** The longest that several providers may take for one trial together. */
const TRIAL_MS = 25_000;
/** A spec of 8,192 bytes of canonical JSON may be written with white space and escapes. */
const BODY_LIMIT = 64 * 1024;

const TRIED = {
  404: ["trials_off"],
  422: ["invalid_spec", "invalid_arguments", "host_not_allowed"],
  502: ["trial_failed"],
  503: ["trials_busy", "shutting_down"],
} as const;

const trialSchema = {
  tags: ["trials"],
  operationId: "trySpec",
  summary: "Has a provider try a request spec, published or not, and shows each step to its value.",
  description:
    "The provider queries the sources now, with the engine that reads published specs. Nothing is signed or stored. " +
    "Each provider's owner decides whether it offers trials, and which hosts they may query.",
  body: DatasetTrialRequest,
  response: {
    200: jsonAnswer("The trial.", SpecTrial),
    ...datasetProblems(ANY_BODY, { ...TRIED, 404: ["trials_off", "unknown_provider"] }),
  },
};

const adviceSchema = {
  tags: ["trials"],
  operationId: "adviseOnSpec",
  summary: "Samples the providers over some time, and says which rule and tolerance fit a request spec.",
  description:
    "Up to ten providers that offer trials try the spec at the same times, and one of them computes the figures. By " +
    "default the answer is JSON, at the end. With `Accept: text/event-stream` it is a stream of events, and then its status " +
    "is 200 even if the last event is a `problem`. Closing the connection ends the sampling.",
  body: DatasetAdviceRequest,
  response: {
    200: streamedAnswer(
      "The advice.",
      SpecAdvice,
      "`sample` after each sample, with `taken`, `of` and what the `providers` have read",
    ),
    ...datasetProblems(ANY_BODY, TRIED),
  },
};

/** Adds `POST /specs/try` and `POST /specs/advise`. */
export function addSpecRoutes(app: App, operator: Operator, requestsPerMinute: number): void {
  const rate = (name: string, costInRequests: number) => ({
    config: { rate: costlyRate(name, requestsPerMinute, costInRequests) },
  });
  const limitAll = globalRateLimiter(app, "trials-of-all", TRIALS_OF_ALL);
  let turn = 0;
  let trials = 0;
  let samplings = 0;

  const find = (names: Pick<DatasetTrialRequest, "network_id" | "dataset">) => {
    const found = findDataset(operator.networks, names, invalidProperty);
    if (found.dataset.keyForm !== "WEB_ORACLE") throw notWebOracle(found.dataset.address);
    return { network: found.network, members: membersToAsk(found.network, found.dataset, turn++) };
  };

  app.post(
    "/specs/try",
    { schema: trialSchema, ...rate("trials", TRIAL_COST_IN_REQUESTS), bodyLimit: BODY_LIMIT },
    async (request, reply): Promise<SpecTrial> => {
      const { spec, arguments: args, provider } = request.body;
      const { network, members } = find(request.body);
      const providers = provider === undefined ? members : [memberOf(members, provider)];
      await limitAll(request, reply);
      if (trials >= MAX_TRIALS_AT_ONCE) throw trialsBusy(RETRY_TRIAL);
      trials += 1;
      try {
        const signal = AbortSignal.any([operator.closing, abortedOnClose(reply, TRIAL_MS)]);
        return await firstTrial(network, providers, { spec, arguments: args }, signal);
      } finally {
        trials -= 1;
      }
    },
  );

  app.post(
    "/specs/advise",
    { schema: adviceSchema, ...rate("advice", ADVICE_COST_IN_REQUESTS), bodyLimit: BODY_LIMIT },
    async (request, reply) => {
      const { spec, arguments: args, samples, seconds } = request.body;
      if (seconds < samples) throw invalidProperty("seconds", "must be at least the number of samples.");
      const { network, members } = find(request.body);
      if (members.length === 0) throw trialsOff();
      if (samplings >= MAX_SAMPLINGS_AT_ONCE) throw trialsBusy(RETRY_SAMPLING);
      samplings += 1;
      const gone = abortedOnClose(reply);
      const signal = AbortSignal.any([operator.closing, gone]);
      const work = (listener: (step: AdviceProgress & { event: "sample" }) => void) =>
        adviseOnSpec(
          network,
          members,
          { spec, arguments: args },
          {
            samples,
            intervalSeconds: seconds / samples,
            signal,
            onSample: (progress) => listener({ event: "sample", ...progress }),
          },
        ).finally(() => {
          samplings -= 1;
        });
      reply.header("vary", "accept");
      if (!acceptsEventStream(request.headers.accept)) return work(() => {});
      return eventStream(request, reply, work, () => gone.aborted);
    },
  );
}

/**
 * Returns the committee members that the operator has an endpoint for, rotated, so that each `turn` begins with the next
 * member.
 */
function membersToAsk({ providerUrls }: Network, { committee }: Dataset, turn: number): Address[] {
  const members = committee.current.members.filter((member) => providerUrls.urlOf(member) !== undefined);
  const start = members.length === 0 ? 0 : turn % members.length;
  return [...members.slice(start), ...members.slice(0, start)];
}

/** @throws ProblemError unless the provider is a member that the operator has an endpoint for. */
function memberOf(members: readonly Address[], text: string): Address {
  const address = parseAddress(text);
  if (!address.ok) throw invalidProperty("provider", address.error);
  const member = members.find((member) => member === address.value);
  if (member === undefined) throw unknownProvider(address.value);
  return member;
}

/**
 * Returns a signal that is aborted when the response closes: early if the caller leaves, otherwise after the answer.
 *
 * @param deadlineMs Aborts it after this time, too. Not by `AbortSignal.timeout`, because Node 20 collects one that only
 *   `AbortSignal.any` refers to.
 */
function abortedOnClose({ raw }: FastifyReply, deadlineMs?: number): AbortSignal {
  const gone = new AbortController();
  const timer = deadlineMs === undefined ? undefined : setTimeout(() => gone.abort(), deadlineMs);
  raw.once("close", () => {
    clearTimeout(timer);
    gone.abort();
  });
  return gone.signal;
}
