import { parseWebKey } from "@dataset-oracle/protocol/web-key";
import type { ProblemError } from "@dataset-oracle/service/problem";
import { type Hex, hexToString } from "viem";
import {
  hostNotAllowed,
  invalidArguments,
  invalidSpec,
  otherKind,
  registryUnavailable,
  specNotPublished,
} from "../problems.js";
import type { ServedDataset } from "../served.js";
import type { SourceReader, SourceRequest } from "../source/reader.js";
import type { Reading } from "../source/reading.js";
import type { RateLimit } from "../source/token-bucket.js";
import { type SourceOverrides, withOverride } from "../source-overrides.js";
import type { Combined } from "./combine.js";
import type { BoundRequest, CompiledRequest } from "./compile.js";
import type { Hosts } from "./plan.js";
import type { Specs } from "./specs.js";

/** A key of the Web Oracle, ready to be read. */
export interface WebOracleKey {
  readonly key: Hex;
  /** The key in ASCII, for logs. */
  readonly name: string;
  /** What its spec says. */
  readonly compiled: CompiledRequest;
  readonly request: BoundRequest;
  /** As `request.sources`, with their rate limits. */
  readonly requests: readonly SourceRequest[];
}

export interface WebOracleParts {
  readonly specs: Pick<Specs, "find">;
  readonly hosts: Hosts;
  /** How often an origin is asked. */
  readonly rateLimitOf: (origin: string) => RateLimit;
  readonly overrides: SourceOverrides;
}

/** Serves every key whose spec is published and valid, and asks only hosts that are allowed. */
export class WebOracle {
  readonly #parts: WebOracleParts;

  constructor(parts: WebOracleParts) {
    this.#parts = parts;
  }

  /**
   * The key, or why it is not served.
   *
   * @param key Of the form WEB_ORACLE.
   * @param isReserved Whether it is asked for somebody for whom a part of the rates is reserved.
   */
  async find(
    dataset: Pick<ServedDataset, "chainId" | "kind">,
    key: Hex,
    isReserved: boolean,
  ): Promise<WebOracleKey | ProblemError> {
    const { specs, hosts, rateLimitOf, overrides } = this.#parts;
    const web = parseWebKey(key);
    if (!web.ok) return invalidArguments(web.error);
    const { specHash, args } = web.value;
    const found = await specs.find(dataset.chainId, specHash, isReserved);
    if (found.kind === "unknown") return specNotPublished(specHash, dataset.chainId);
    if (found.kind === "unavailable") return registryUnavailable(found.retryAfter);
    if (!found.request.ok) return invalidSpec(found.request.error);
    const compiled = found.request.value;
    const { type, kind, hosts: asked, bind } = compiled;
    if (kind !== dataset.kind) return otherKind(type, kind);
    const forbidden = hosts === "any" ? undefined : asked.find((host) => !hosts.includes(host));
    if (forbidden !== undefined) return hostNotAllowed(forbidden);
    const request = bind(args);
    if (!request.ok) return invalidArguments(request.error);
    const requests = request.value.sources.map(({ request }) => {
      const rateLimit = rateLimitOf(new URL(request.url).origin);
      return withOverride(overrides, { ...request, rateLimit });
    });
    return { key, name: hexToString(key), compiled, request: request.value, requests };
  }
}

/** What one source said; `source` is its place in the spec. */
export interface WebAnswer {
  readonly source: string;
  readonly reading: Reading<bigint>;
}

/** What the sources of a key said, and what it comes to. */
export interface WebReading {
  readonly combined: Combined;
  readonly answers: readonly WebAnswer[];
}

/** Asks all sources of a key at once, and combines what they say. */
export async function readWebValue(
  { request, requests }: Pick<WebOracleKey, "request" | "requests">,
  reader: Pick<SourceReader, "read">,
  isReserved: boolean,
): Promise<WebReading> {
  const readings = await Promise.all(
    request.sources.map(async ({ extract }, index) => {
      const answer = await reader.read(requests[index] as SourceRequest, isReserved);
      return answer.ok ? extract(answer.value.document) : answer;
    }),
  );
  const answers = readings.map((reading, index) => ({ source: `/sources/${index}`, reading }));
  return { combined: request.combine(readings), answers };
}
