import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { readPublishedSpec } from "@dataset-oracle/protocol/client/read-published-spec";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { parseWebOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import type { Clock } from "@dataset-oracle/service/process/context";
import { Value } from "@sinclair/typebox/value";
import { LRUCache } from "lru-cache";
import { type Address, type Client, type Hex, hexToString } from "viem";
import { getContractEvents } from "viem/actions";
import type { ChainClient } from "../../rpc/client.js";
import { unwrapRpcError } from "../../rpc/rpc-error.js";
import type { EventSource } from "./past-events.js";
import { plainTextPattern } from "./settings.js";

/** Specs whose title shows as other text than it has are left out, because anyone may publish one. */
const TITLE = new RegExp(plainTextPattern(200));

/** A request spec, described to people. */
export interface DescribedSpec {
  /** The kind of the datasets that its keys belong to. */
  readonly kind: DatasetKind;
  /** The names of its variables, in the order of a key's arguments. */
  readonly variables: readonly string[];
  readonly format: ValueFormat;
}

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
    kind: type === "uint" ? "median" : "majority",
    variables: spec.variables.map(({ name }) => name),
    format: { title: spec.title, type: shape, decimals, unit, sources },
  };
}

/** A request spec as it was published. */
interface Publication {
  readonly specHash: Hex;
  readonly spec: DescribedSpec;
  readonly blockNumber: number;
}

/** The request specs that are published in a registry, except those that are not understood. */
export function publications(client: ChainClient, registry: Address): EventSource<Publication> {
  return {
    id: registry,
    read: async (from, to) => {
      const filter = {
        address: registry,
        abi: webOracleRegistryAbi,
        eventName: "SpecPublished",
        strict: true,
      } as const;
      const events = getContractEvents(client, { ...filter, fromBlock: BigInt(from), toBlock: BigInt(to) });
      return (await unwrapRpcError(client, "eth_getLogs", events)).flatMap(({ args, blockNumber }) => {
        const spec = describeSpec(args.spec);
        return spec === null ? [] : [{ specHash: args.specHash, spec, blockNumber: Number(blockNumber) }];
      });
    },
  };
}

/** Anonymous callers can name any number of specs that do not exist. */
const MAX_FORMATS = 10_000;
/** How long to wait before reading a spec again that is not published, or not understood here. */
const MISSING_MS = 120_000;
/** The same wait after a failed read. */
const FAILED_MS = 10_000;

/** The display formats of Web Oracle values, from their published specs. A spec never changes: its hash names it. */
export class ValueFormats {
  readonly #formats: LRUCache<Hex, { readonly format: ValueFormat | null }>;

  constructor(client: Client, registry: Address, clock: Clock) {
    this.#formats = new LRUCache({
      max: MAX_FORMATS,
      perf: { now: () => clock.monotonic() },
      ttlResolution: 0,
      fetchMethod: async (specHash, _, { options }) => {
        try {
          const spec = await readPublishedSpec(client, { registry, specHash });
          const format = spec === null ? null : (describeSpec(spec)?.format ?? null);
          if (format === null) options.ttl = MISSING_MS;
          return { format };
        } catch {
          options.ttl = FAILED_MS;
          return { format: null };
        }
      },
    });
  }

  /**
   * Returns null where the key names no spec that is known to be published, or the spec cannot be read now, or is not
   * understood here.
   */
  async of(key: Hex): Promise<ValueFormat | null> {
    const parsed = parseWebOracleKey(key);
    // Many keys of one overview share a spec: one that is being read is not read again.
    return parsed.ok ? ((await this.#formats.fetch(parsed.value.specHash))?.format ?? null) : null;
  }
}
