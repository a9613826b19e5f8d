import { readPublishedSpec } from "@dataset-oracle/protocol/client/read-published-spec";
import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { parseWebOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { LRUCache } from "lru-cache";
import type { Address, Client, Hex } from "viem";
import type { Clock } from "../process-context.js";
import { describeSpec } from "./describe-spec.js";

const MAX_SPECS = 1_000;
/** Anonymous callers can name any number of specs that do not exist. */
const MAX_MISSING = 10_000;
/** How long to wait before reading a spec again that is not published, or not understood here. */
const MISSING_MS = 120_000;
/** The same wait after a failed read. */
const FAILED_MS = 30_000;

/** The display formats of Web Oracle values, from their published specs. A spec never changes: its hash names it. */
export class PublishedSpecFormats {
  readonly #known = new LRUCache<Hex, ValueFormat>({ max: MAX_SPECS });
  /** When specs without a known format are read again, in milliseconds since 1970. */
  readonly #missingUntil = new LRUCache<Hex, number>({ max: MAX_MISSING });

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
    if (this.clock() < (this.#missingUntil.get(specHash) ?? 0)) return null;
    let readAgainMs = MISSING_MS;
    const format = await this.#read(specHash).catch(() => {
      readAgainMs = FAILED_MS;
      return null;
    });
    if (format !== null) this.#known.set(specHash, format);
    else this.#missingUntil.set(specHash, this.clock() + readAgainMs);
    return format;
  }

  async #read(specHash: Hex): Promise<ValueFormat | null> {
    const spec = await readPublishedSpec(this.client, { registry: this.registry, specHash });
    return spec === null ? null : (describeSpec(spec)?.format ?? null);
  }
}
