import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { parseWebKey } from "@dataset-oracle/protocol/web-key";
import type { DatasetKind } from "@dataset-oracle/protocol/wire";
import type { ProblemError } from "@dataset-oracle/service/problem";
import type { Logger } from "pino";
import { type Hex, hexToString } from "viem";
import { type ExplainedValue, toUse } from "../explained-value.js";
import { hostNotAllowed, invalidArguments, otherKind } from "../problems.js";
import { type SourceOverrides, withOverride } from "../source/overrides.js";
import type { SourceRequest } from "../source/reader.js";
import type { Asking } from "../spot-price.js";
import type { BoundRequest, CompiledRequest } from "./compile.js";
import type { WebOraclePlan } from "./plan.js";
import { Registry } from "./registry.js";
import type { SpecFolder } from "./spec-folder.js";
import { Specs } from "./specs.js";

/** A key of the Web Oracle, with the requests that its spec makes for its arguments. */
export interface WebOracleKey {
  readonly kind: "web_oracle";
  readonly key: Hex;
  /** The key for logs: in ASCII. */
  readonly name: string;
  readonly compiled: CompiledRequest;
  readonly request: BoundRequest;
  /** The requests of `request.sources`, with their rate limits. */
  readonly requests: readonly SourceRequest[];
}

export interface WebOracleOptions {
  readonly folder: Pick<SpecFolder, "read" | "write">;
  readonly overrides: SourceOverrides;
  /** Reserves a part of the rate limits for reserved callers. */
  readonly hasReserve: boolean;
  readonly logger: Logger;
}

/** Serves every key whose spec is published, valid, and asks only hosts that are allowed. */
export class WebOracle {
  readonly #plan: WebOraclePlan;
  readonly #overrides: SourceOverrides;
  readonly #specs: Specs;

  /** Connects to nothing before the first key is asked for. */
  constructor(plan: WebOraclePlan, { folder, overrides, hasReserve, logger }: WebOracleOptions) {
    this.#plan = plan;
    this.#overrides = overrides;
    const registries = new Map(plan.registries.map((settings) => [settings.chainId, new Registry(settings)]));
    this.#specs = new Specs({ registries, folder, hasReserve, logger });
  }

  /**
   * Finds a key, or tells why it is not served.
   *
   * @param key Of the form WEB_ORACLE.
   * @param isReserved Allows use of the reserved part of the rate limits.
   */
  async find(
    dataset: { readonly chainId: number; readonly kind: DatasetKind },
    key: Hex,
    isReserved: boolean,
  ): Promise<Result<WebOracleKey, ProblemError>> {
    const { hosts, rateLimitOf } = this.#plan;
    const web = parseWebKey(key);
    if (!web.ok) return err(invalidArguments(web.error));
    const { specHash, args } = web.value;
    const compiled = await this.#specs.find(dataset.chainId, specHash, isReserved);
    if (!compiled.ok) return compiled;
    const { type, kind, hosts: asked, bind } = compiled.value;
    if (kind !== dataset.kind) return err(otherKind(type, kind));
    const forbidden = hosts === "any" ? undefined : asked.find((host) => !hosts.includes(host));
    if (forbidden !== undefined) return err(hostNotAllowed(forbidden));
    const request = bind(args);
    if (!request.ok) return err(invalidArguments(request.error));
    const requests = request.value.sources.map(({ request }) => {
      const rateLimit = rateLimitOf(new URL(request.url).origin);
      return withOverride(this.#overrides, { ...request, rateLimit });
    });
    const name = hexToString(key);
    return ok({ kind: "web_oracle", key, name, compiled: compiled.value, request: request.value, requests });
  }
}

/** Asks all sources of a key at the same time and combines their values. Each source is named by its path in the spec. */
export async function readWebValue(
  { request, requests }: Pick<WebOracleKey, "request" | "requests">,
  { reader, isReserved }: Pick<Asking, "reader" | "isReserved">,
): Promise<ExplainedValue> {
  const readings = await Promise.all(
    request.sources.map(async ({ extract }, index) => {
      const answer = await reader.read(requests[index] as SourceRequest, isReserved);
      return answer.ok ? extract(answer.value.document) : answer;
    }),
  );
  const sources = readings.map((reading, index) =>
    toUse(`/sources/${index}`, reading.ok ? ok({ value: reading.value, quotedAt: null }) : reading),
  );
  return { ...request.combine(readings), sources };
}
