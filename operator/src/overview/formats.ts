import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { parseWebKey } from "@dataset-oracle/protocol/web-key";
import type { ValueFormat } from "@dataset-oracle/protocol/wire-data";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  type Address,
  decodeEventLog,
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  hexToString,
  keccak256,
  numberToHex,
} from "viem";
import { decode, readLogs } from "../chain/dataset.js";
import { Data, type Rpc, requestAs } from "../chain/rpc.js";

/** As much of a request spec as says what its values stand for. */
const Spec = Type.Object({
  title: Type.String({ maxLength: 200 }),
  sources: Type.Array(
    Type.Object({
      url: Type.String(),
      type: Type.Union(["uint", "bool", "bytes32", "string"].map((type) => Type.Literal(type))),
      decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 62 })),
      hash: Type.Optional(Type.Boolean()),
    }),
  ),
});

/** A rate, scaled as `usingOracleProtocol` gives it. */
export const SPOT_PRICE: ValueFormat = { title: null, type: "uint", decimals: 18, sources: [] };

const MAX_SPECS = 1_000;

/** What the values of Web Oracle keys stand for, as their published specs say. A spec never changes: its hash names it. */
export class Formats {
  readonly #known = new Map<Hex, ValueFormat>();

  constructor(
    private readonly rpc: Rpc,
    private readonly registry: Address,
  ) {}

  /** Null where the spec is not published, cannot be read now, or says nothing that is understood here. */
  async of(key: Hex): Promise<ValueFormat | null> {
    const parsed = parseWebKey(key);
    if (!parsed.ok) return null;
    const { specHash } = parsed.value;
    const known = this.#known.get(specHash);
    if (known !== undefined) return known;
    const format = await this.#read(specHash).catch(() => null);
    if (format !== null && this.#known.size < MAX_SPECS) this.#known.set(specHash, format);
    return format;
  }

  async #read(specHash: Hex): Promise<ValueFormat | null> {
    const { rpc, registry } = this;
    const abi = webOracleRegistryAbi;
    const data = encodeFunctionData({ abi, functionName: "publishedAt", args: [specHash] });
    const result = await requestAs(rpc, Data, "eth_call", [{ to: registry, data }, "latest"]);
    const block = decode(rpc, "eth_call", () =>
      decodeFunctionResult({ abi, functionName: "publishedAt", data: result }),
    );
    if (block === 0n) return null;
    const topics = encodeEventTopics({ abi, eventName: "SpecPublished", args: { specHash } });
    const logs = await readLogs(rpc, registry, numberToHex(block), numberToHex(block), topics);
    const spec = logs
      .map((log) => decodeEventLog({ abi, eventName: "SpecPublished", ...log }).args.spec)
      .find((bytes) => keccak256(bytes) === specHash);
    return spec === undefined ? null : toFormat(JSON.parse(hexToString(spec)));
  }
}

function toFormat(spec: unknown): ValueFormat | null {
  if (!Value.Check(Spec, spec)) return null;
  const [first] = spec.sources;
  if (first === undefined) return null;
  const { type, decimals = 0, hash = false } = first;
  const sources = [...new Set(spec.sources.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).host] : [])))];
  const named = type as ValueFormat["type"];
  return { title: spec.title, type: type === "string" && hash ? "bytes32" : named, decimals, sources };
}
