import { SpecAdvice, SpecAdviceRequest } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { SpecTrial, SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import type { FastifyRequest } from "fastify";
import type { Caller } from "../caller.js";
import { costlyRouteLimits } from "../costly-route-limits.js";
import { ADVICE_PROBLEMS, TRIAL_PROBLEMS } from "../problem-responses.js";
import { invalidReadings, trialsOff } from "../problems.js";
import { advise } from "./advice/compute-advice.js";
import { parseReadings } from "./advice/parse-readings.js";
import { checkTriedSpec } from "./trial/check-tried-spec.js";
import type { Trials } from "./trial/trials.js";

/** Enough for a spec, and as many readings as the schema allows. */
const READINGS_LIMIT = 512 * 1024;
/** A spec of `MAX_SPEC_BYTES` of canonical JSON may be written with white space and escapes. */
const SPEC_LIMIT = 64 * 1024;

const trialSchema = {
  tags: ["trials"],
  operationId: "trySpec",
  summary: "Tries a request spec, published or not, and shows each step to its value.",
  description:
    "The sources are queried now, without this provider's credentials, and read by the engine that reads published specs. " +
    "Nothing is signed or stored. The provider's owner decides whether trials are on (they are off by default), " +
    "which hosts they may query, and how often.",
  body: SpecTrialRequest,
  response: {
    200: jsonAnswer("The trial.", SpecTrial),
    ...TRIAL_PROBLEMS,
  },
};

const adviceSchema = {
  tags: ["trials"],
  operationId: "adviseOnSpec",
  summary: "Computes advice on a request spec from readings of several providers.",
  description:
    "The readings are those of trials. No source is queried, and the same readings always give the same advice.",
  body: SpecAdviceRequest,
  response: {
    200: jsonAnswer("The advice.", SpecAdvice),
    ...ADVICE_PROBLEMS,
  },
};

export interface SpecRoutesParts {
  /** Null when trials are off. */
  readonly trials: Pick<Trials, "run"> | null;
  readonly isOperator: (address: string) => boolean;
  readonly callerOf: (request: FastifyRequest) => Caller;
}

/** Adds `POST /specs/try` and `POST /specs/advise`. */
export function addSpecRoutes(app: App, { trials, isOperator, callerOf }: SpecRoutesParts): void {
  const limits = costlyRouteLimits(app, isOperator);

  app.post(
    "/specs/try",
    { schema: trialSchema, ...limits("trials"), bodyLimit: SPEC_LIMIT },
    async (request): Promise<SpecTrial> => {
      if (trials === null) throw trialsOff();
      return trials.run(request.body, callerOf(request));
    },
  );

  app.post(
    "/specs/advise",
    { schema: adviceSchema, ...limits("advice"), bodyLimit: READINGS_LIMIT },
    async ({ body }): Promise<SpecAdvice> => {
      if (trials === null) throw trialsOff();
      const { compiled, bound } = checkTriedSpec(body);
      const readings = parseReadings(body.providers, compiled.kind, bound.sources.length);
      if (!readings.ok) throw invalidReadings(readings.error);
      return advise({ compiled, bound, readings: readings.value, intervalSeconds: body.interval_seconds });
    },
  );
}
