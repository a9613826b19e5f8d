import { readPublishedSpec } from "@dataset-oracle/protocol/client/read-published-spec";
import type { PublishedSpec } from "@dataset-oracle/protocol/http-schemas/overview";
import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { parseWebOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import type { Clock } from "@dataset-oracle/service/process/context";
import { Value } from "@sinclair/typebox/value";
import { LRUCache } from "lru-cache";
import { type Address, type Client, type Hex, hexToString } from "viem";
import { plainTextPattern } from "../../network-settings.js";

/** Specs whose title shows as other text than it has are left out, because anyone may publish one. */
const TITLE = new RegExp(plainTextPattern(200));

/** What people are told of a request spec. */
type DescribedSpec = Pick<PublishedSpec, "variables" | "format">;

/**
 * Describes a published spec. The providers check the whole of it.
 *
 * @param bytes Its canonical JSON.
 * @returns Null if it is not understood.
 */
export function describeSpec(bytes: Hex): DescribedSpec | null {
  const spec = parseJson(hexToString(bytes));
  if (!Value.Check(RequestSpec, spec) || !TITLE.test(spec.title)) return null;
  const [first] = spec.sources;
  if (first === undefined) return null;
  const { type, hash = false } = first;
  // Sources can scale differently, because they may state the value in different units.
  const { decimals, symbol: unit } = spec.unit ?? { decimals: first.decimals ?? 0, symbol: null };
  const sources = [...new Set(spec.sources.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).host] : [])))];
  const shape = type === "string" && hash ? "bytes32" : type;
  return {
    variables: spec.variables,
    format: { title: spec.title, type: shape, decimals, unit, sources },
  };
}

/** Anonymous callers can name any number of specs that do not exist. */
const MAX_SPECS = 10_000;
/** How long to wait before reading a spec again that is not published, or not understood here. */
const MISSING_MS = 120_000;
/** The same wait after a failed read. */
const FAILED_MS = 10_000;

/** The request specs of Web Oracle keys, as they are published. A spec never changes: its hash names it. */
export class PublishedSpecs {
  readonly #specs: LRUCache<Hex, { readonly spec: PublishedSpec | null }>;

  constructor(client: Client, registry: Address, clock: Clock) {
    this.#specs = new LRUCache({
      max: MAX_SPECS,
      perf: { now: () => clock.monotonic() },
      ttlResolution: 0,
      fetchMethod: async (specHash, _, { options }) => {
        try {
          const bytes = await readPublishedSpec(client, { registry, specHash });
          const described = bytes === null ? null : describeSpec(bytes);
          if (described !== null) return { spec: { spec_hash: specHash, ...described } };
          options.ttl = MISSING_MS;
        } catch {
          options.ttl = FAILED_MS;
        }
        return { spec: null };
      },
    });
  }

  /**
   * Returns null where the key names no spec that is known to be published, or the spec cannot be read now, or is not
   * understood here.
   */
  async of(key: Hex): Promise<PublishedSpec | null> {
    const parsed = parseWebOracleKey(key);
    // Many keys of one overview share a spec: one that is being read is not read again.
    return parsed.ok ? ((await this.#specs.fetch(parsed.value.specHash))?.spec ?? null) : null;
  }
}
