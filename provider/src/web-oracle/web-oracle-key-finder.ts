import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { parseWebOracleKey, type WebOracleKeyContent } from "@dataset-oracle/protocol/web-oracle-key";
import type { RedirectedOrigins } from "@dataset-oracle/service/untrusted/egress";
import { type Hex, hexToString } from "viem";
import type { TracedCaller } from "../caller.js";
import { hostNotAllowed, invalidArguments, otherKind } from "../problems.js";
import type { RateLimit } from "../rate-limit.js";
import type { SourceRequest } from "../source/source-request.js";
import { type CheckedWebOracleSettings, isHostAllowed } from "./check-settings.js";
import type { BoundRequest, CompiledRequest } from "./compile-spec.js";
import { SpecFinder, type SpecFinderParts, SpecRegistry } from "./spec-finder.js";

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

interface WebOracleKeyFinderOptions extends Omit<SpecFinderParts, "registries"> {
  readonly redirectedOrigins: RedirectedOrigins;
}

/** Finds the key of a published, valid spec that asks only allowed hosts. */
export class WebOracleKeyFinder {
  readonly #specs: SpecFinder;

  /** Connects to nothing before the first key is asked for. */
  constructor(
    private readonly settings: CheckedWebOracleSettings,
    private readonly options: WebOracleKeyFinderOptions,
  ) {
    const registries = new Map(settings.registries.map((registry) => [registry.chainId, new SpecRegistry(registry)]));
    this.#specs = new SpecFinder({ ...options, registries });
  }

  /**
   * Finds a key.
   *
   * @param key Of the form WEB_ORACLE.
   * @throws ProblemError when it is not served.
   */
  async find(
    dataset: { readonly chainId: number; readonly kind: DatasetKind },
    key: Hex,
    caller: TracedCaller,
  ): Promise<WebOracleKey> {
    const { rateLimitOf } = this.settings;
    const web = parseWebOracleKey(key);
    if (!web.ok) throw invalidArguments(web.error);
    const { specHash, args } = web.value;
    const compiled = await this.#specs.find(dataset.chainId, specHash, caller);
    const { type, kind, hosts: asked, bind } = compiled;
    if (kind !== dataset.kind) throw otherKind(type, kind);
    const forbidden = asked.find((host) => !isHostAllowed(host, this.settings));
    if (forbidden !== undefined) throw hostNotAllowed(forbidden);
    const request = bind(args);
    if (!request.ok) throw invalidArguments(request.error);
    const { redirectedOrigins } = this.options;
    return toWebOracleKey(key, web.value, compiled, request.value, (origin) =>
      Object.hasOwn(redirectedOrigins, origin) ? null : rateLimitOf(origin),
    );
  }
}

/** @param rateLimitOf Returns the rate limit of an origin; without it, nobody limits the rate of the requests. */
export function toWebOracleKey(
  key: Hex,
  content: WebOracleKeyContent,
  compiled: CompiledRequest,
  request: BoundRequest,
  rateLimitOf: (origin: string) => RateLimit | null = () => null,
): WebOracleKey {
  const requests = request.sources.map((source) => {
    const rateLimit = rateLimitOf(new URL(source.request.url).origin);
    return { ...source.request, rateLimit };
  });
  return { kind: "web_oracle", key, name: hexToString(key), ...content, compiled, request, requests };
}
