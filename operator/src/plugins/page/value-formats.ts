import { readPublishedSpec } from "@dataset-oracle/protocol/client/read-published-spec";
import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { parseWebOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { LRUCache } from "lru-cache";
import type { Address, Client, Hex } from "viem";
import type { Clock } from "../../context.js";
import { describeSpec } from "./describe-spec.js";

const MAX_KNOWN = 1_000;
/** Anonymous callers can name any number of specs that do not exist, which must not displace known ones. */
const MAX_OTHERS = 10_000;
/** How long to wait before reading a spec again that is not published, or not understood here. */
const MISSING_MS = 120_000;
/** The same wait after a failed read. */
const FAILED_MS = 30_000;

interface Entry {
  readonly format: Promise<ValueFormat | null>;
  /** When the spec is read again, in milliseconds since 1970. */
  readAgainAt: number;
}

/** The display formats of Web Oracle values, from their published specs. A spec never changes: its hash names it. */
export class ValueFormatCache {
  readonly #known = new LRUCache<Hex, ValueFormat>({ max: MAX_KNOWN });
  /** Specs that are being read, or have no format. */
  readonly #entries = new LRUCache<Hex, Entry>({ max: MAX_OTHERS });

  constructor(
    private readonly client: Client,
    private readonly registry: Address,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns null where the key names no spec that is known to be published, or the spec cannot be read now, or is not
   * understood here.
   */
  async of(key: Hex): Promise<ValueFormat | null> {
    const parsed = parseWebOracleKey(key);
    if (!parsed.ok) return null;
    const { specHash } = parsed.value;
    const known = this.#known.get(specHash);
    if (known !== undefined) return known;
    const other = this.#entries.get(specHash);
    // Many keys of one overview share a spec, so the promise is kept: a spec that is being read is not read again.
    if (other !== undefined && this.clock() < other.readAgainAt) return other.format;
    const nullFor = (ms: number) => {
      entry.readAgainAt = this.clock() + ms;
      return null;
    };
    const entry: Entry = {
      format: this.#read(specHash).then(
        (format) => {
          if (format === null) return nullFor(MISSING_MS);
          this.#known.set(specHash, format);
          this.#entries.delete(specHash);
          return format;
        },
        () => nullFor(FAILED_MS),
      ),
      readAgainAt: Number.POSITIVE_INFINITY,
    };
    this.#entries.set(specHash, entry);
    return entry.format;
  }

  async #read(specHash: Hex): Promise<ValueFormat | null> {
    const spec = await readPublishedSpec(this.client, { registry: this.registry, specHash });
    return spec === null ? null : (describeSpec(spec)?.format ?? null);
  }
}
