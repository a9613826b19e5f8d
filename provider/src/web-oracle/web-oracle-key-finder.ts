import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { DATASET_DISPLAY_NAMES } from "@dataset-oracle/protocol/request-spec";
import { parseWebOracleKey, type WebOracleKeyContent } from "@dataset-oracle/protocol/web-oracle-key";
import type { Context } from "@dataset-oracle/service/process/context";
import type { RedirectedOrigins } from "@dataset-oracle/service/untrusted/egress";
import { type Hex, hexToString } from "viem";
import type { KeyBudget, TracedCaller } from "../callers/caller.js";
import type { RateLimit } from "../callers/rate-limit.js";
import { problem } from "../problems.js";
import type { SourceRequest } from "../source/source-request.js";
import { type CheckedWebOracleSettings, isHostAllowed } from "./check-settings.js";
import type { BoundRequest, CompiledRequest } from "./compile-spec.js";
import type { PublishedSpecStore } from "./published-spec-store.js";
import { SpecFinder, SpecRegistry } from "./spec-finder.js";

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

interface WebOracleKeySettings extends CheckedWebOracleSettings {
  readonly redirectedOrigins: RedirectedOrigins;
  readonly hasReserve: boolean;
}

/** Finds the key of a published, valid spec that asks only allowed hosts. */
export class WebOracleKeyFinder {
  readonly #specs: SpecFinder;

  /** Connects to nothing before the first key is asked for. */
  constructor(
    specStore: Pick<PublishedSpecStore, "read" | "write">,
    budget: KeyBudget,
    context: Pick<Context, "clock" | "closing" | "dispatcher" | "logger">,
    private readonly settings: WebOracleKeySettings,
  ) {
    const registries = new Map(settings.registries.map((one) => [one.chainId, new SpecRegistry(context, one)]));
    this.#specs = new SpecFinder(registries, specStore, budget, context, settings.hasReserve);
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
    const { rateLimitOf, redirectedOrigins } = this.settings;
    const web = parseWebOracleKey(key);
    if (!web.ok) throw problem("invalid_arguments", { problem: web.error });
    const { specHash, args } = web.value;
    const compiled = await this.#specs.find(dataset.chainId, specHash, caller);
    const { type, kind, hosts: asked, bind } = compiled;
    if (kind !== dataset.kind) throw problem("other_kind", { type, dataset: DATASET_DISPLAY_NAMES[kind] });
    const forbidden = asked.find((host) => !isHostAllowed(host, this.settings));
    if (forbidden !== undefined) throw problem("host_not_allowed", { host: forbidden });
    const request = bind(args);
    if (!request.ok) throw problem("invalid_arguments", { problem: request.error });
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
