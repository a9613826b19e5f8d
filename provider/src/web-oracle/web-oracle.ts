import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { parseWebOracleKey, type WebOracleKeyContent } from "@dataset-oracle/protocol/web-oracle-key";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem";
import type { Logger } from "pino";
import { type Hex, hexToString } from "viem";
import { type ExplainedValue, toUse } from "../explained-value.js";
import { hostNotAllowed, invalidArguments, otherKind } from "../problems.js";
import type { SourceRequest } from "../source/reader.js";
import type { Reading } from "../source/reading.js";
import { type RedirectedOrigins, unlimitedIfRedirected } from "../source/redirected-origins.js";
import type { Asking } from "../spot-price.js";
import { isAllowed, type WebOraclePlan } from "./check-settings.js";
import type { BoundRequest, CompiledRequest } from "./compile.js";
import { type Extracted, extractValues } from "./extract-values.js";
import type { Extractor } from "./extractor.js";
import { Specs } from "./find-spec.js";
import { Registry } from "./registry.js";
import type { SpecFolder } from "./spec-folder.js";
import type { WebCaller } from "./web-caller.js";

/** A key of the Web Oracle, with the requests that its spec makes for its arguments. */
export interface WebOracleKey extends WebOracleKeyContent {
  readonly kind: "web_oracle";
  readonly key: Hex;
  /** The key for logs: in ASCII. */
  readonly name: string;
  readonly compiled: CompiledRequest;
  readonly request: BoundRequest;
  /** The requests of `request.sources`, with their rate limits. */
  readonly requests: readonly SourceRequest[];
}

interface WebOracleOptions {
  readonly folder: Pick<SpecFolder, "read" | "write">;
  readonly redirectedOrigins: RedirectedOrigins;
  /** Reserves a part of the rate limits for reserved callers. */
  readonly hasReserve: boolean;
  readonly logger: Logger;
}

/** Serves every key whose spec is published, valid, and asks only hosts that are allowed. */
export class WebOracle {
  readonly #redirectedOrigins: RedirectedOrigins;
  readonly #specs: Specs;

  /** Connects to nothing before the first key is asked for. */
  constructor(
    private readonly plan: WebOraclePlan,
    { folder, redirectedOrigins, hasReserve, logger }: WebOracleOptions,
  ) {
    this.#redirectedOrigins = redirectedOrigins;
    const registries = new Map(plan.registries.map((settings) => [settings.chainId, new Registry(settings)]));
    this.#specs = new Specs({ registries, folder, hasReserve, logger });
  }

  /**
   * Finds a key, or tells why it is not served.
   *
   * @param key Of the form WEB_ORACLE.
   */
  async find(
    dataset: { readonly chainId: number; readonly kind: DatasetKind },
    key: Hex,
    caller: WebCaller,
  ): Promise<Result<WebOracleKey, ProblemError>> {
    const { hosts, rateLimitOf } = this.plan;
    const web = parseWebOracleKey(key);
    if (!web.ok) return err(invalidArguments(web.error));
    const { specHash, args } = web.value;
    const compiled = await this.#specs.find(dataset.chainId, specHash, caller);
    if (!compiled.ok) return compiled;
    const { type, kind, hosts: asked, bind } = compiled.value;
    if (kind !== dataset.kind) return err(otherKind(type, kind));
    const forbidden = asked.find((host) => !isAllowed(host, hosts));
    if (forbidden !== undefined) return err(hostNotAllowed(forbidden));
    const request = bind(args);
    if (!request.ok) return err(invalidArguments(request.error));
    const requests = request.value.sources.map(({ request }) => {
      const rateLimit = rateLimitOf(new URL(request.url).origin);
      return unlimitedIfRedirected(this.#redirectedOrigins, { ...request, rateLimit });
    });
    const name = hexToString(key);
    return ok({
      kind: "web_oracle",
      key,
      name,
      ...web.value,
      compiled: compiled.value,
      request: request.value,
      requests,
    });
  }
}

/** Extracts a key's values from the answers to its requests. */
export interface ExtractWebValues {
  /** Returns after how many milliseconds the key's values may be extracted; 0 for now. */
  waitMs(key: WebOracleKey): number;
  /** Returns one reading for each answer, or after how many milliseconds to try again. */
  extract(key: WebOracleKey, texts: readonly (string | null)[]): Promise<Result<Pick<Extracted, "readings">, number>>;
}

/** Extracts in the calling thread, without allowances: for commands. */
export const EXTRACT_HERE: ExtractWebValues = {
  waitMs: () => 0,
  extract: async ({ request }, texts) => ok(extractValues(request.sources, texts)),
};

/** Extracts as far as the allowances of a caller go. */
export const extractFor = (extractor: Extractor, caller: WebCaller): ExtractWebValues => ({
  waitMs: ({ specHash }) => extractor.waitMs(caller, specHash),
  extract: ({ specHash, args, compiled: { spec } }, texts) =>
    extractor.extract({ specHash, spec, args, texts }, caller),
});

/** Asks all sources of a key at the same time and combines their values. Each source is named by its path in the spec. */
export async function readWebValue(
  key: WebOracleKey,
  { reader, isReserved }: Pick<Asking, "reader" | "isReserved">,
  extractor: ExtractWebValues,
): Promise<ExplainedValue> {
  // Asked first, so that a caller above its allowance costs no source a request.
  const waitMs = extractor.waitMs(key);
  if (waitMs > 0) return busy(waitMs);
  const answers = await Promise.all(key.requests.map((request) => reader.read(request, isReserved)));
  const extracted = await extractor.extract(
    key,
    answers.map((answer) => (answer.ok ? answer.value.text : null)),
  );
  if (!extracted.ok) return busy(extracted.error);
  const readings = answers.map((answer, index) =>
    answer.ok ? (extracted.value.readings[index] as Reading<bigint>) : answer,
  );
  const sources = readings.map((reading, index) =>
    toUse(`/sources/${index}`, reading.ok ? ok({ value: reading.value, quotedAt: null }) : reading),
  );
  return { ...key.request.combine(readings), sources };
}

const busy = (waitMs: number): ExplainedValue => ({
  kind: "busy",
  retryAfter: Math.ceil(waitMs / 1_000),
  sources: [],
});
