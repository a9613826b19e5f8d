import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { SpecUnit } from "@dataset-oracle/protocol/spec-unit";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Hex, hexToString } from "viem";
import { plainTextPattern } from "./settings.js";

/** The parts of a request spec that describe it to people. Anyone may publish one. */
const RequestSpec = Type.Object({
  title: Type.String({ pattern: plainTextPattern(200) }),
  unit: Type.Optional(SpecUnit),
  variables: Type.Array(Type.Object({ name: Type.String({ pattern: "^[a-z][A-Za-z0-9_]{0,31}$" }) }), { maxItems: 8 }),
  sources: Type.Array(
    Type.Object({
      url: Type.String(),
      type: Type.Union((["uint", "bool", "bytes32", "string"] as const).map((type) => Type.Literal(type))),
      decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 62 })),
      hash: Type.Optional(Type.Boolean()),
    }),
    { minItems: 1, maxItems: 8 },
  ),
});

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
  if (!Value.Check(RequestSpec, spec)) return null;
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
