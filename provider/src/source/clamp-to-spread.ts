import { ok, type Result } from "@dataset-oracle/protocol/result";
import { type Static, Type } from "@sinclair/typebox";
import type { Json } from "./exact-json.js";
import { type BoundPath, compileJsonPath, findOne } from "./json-path.js";
import { nodeToValue, type ValueShape } from "./node-to-value.js";
import { failed, type Reading } from "./source-failure.js";
import type { TemplateValues } from "./text-template.js";

/** The places of the best bid and the best ask in an answer. */
export const SpreadSpec = Type.Object(
  {
    bid: Type.String({ description: "JSONPath of the best bid." }),
    ask: Type.String({ description: "JSONPath of the best ask." }),
  },
  {
    additionalProperties: false,
    description:
      "The best bid and ask, if the source gives both. A price below the bid is raised to it, and one above the ask is " +
      "lowered to it.",
  },
);
export type SpreadSpec = Static<typeof SpreadSpec>;

/** Limits a price to the spread. Fails when there is none: then nobody can trade, and the last trade may be old. */
type Clamp = (document: Json, price: bigint) => Reading<bigint>;

/**
 * Compiles the rule for a source's price: its last trade, limited to the best bid and ask. The last trade alone may be
 * old, and lie outside of what can be traded now; the middle of the spread alone would move with any order, without a
 * trade.
 */
export function compileSpreadClamp(
  { bid, ask }: SpreadSpec,
  shape: ValueShape,
  variables: readonly string[],
): Result<(values: TemplateValues) => Clamp> {
  const bidPath = compileJsonPath(bid, variables);
  if (!bidPath.ok) return bidPath;
  const askPath = compileJsonPath(ask, variables);
  if (!askPath.ok) return askPath;
  return ok((values) => {
    const [low, high] = [bidPath.value.bind(values), askPath.value.bind(values)];
    return (document, price) => {
      // A last trade of 0 means that there was none, and is refused as such.
      if (price === 0n) return ok(price);
      const [bid, ask] = [read(low, document, shape), read(high, document, shape)];
      if (bid === null || ask === null) return failed("no_spread", "has no bid or no ask");
      if (bid > ask) return failed("no_spread", "has a bid above its ask");
      if (price < bid) return ok(bid);
      if (price > ask) return ok(ask);
      return ok(price);
    };
  });
}

/** Returns the price at a path; null when an order book is empty there, which sources write as null, "" or 0. */
function read(path: BoundPath, document: Json, shape: ValueShape): bigint | null {
  const node = findOne(path, document);
  const price = node.ok ? nodeToValue(node.value, shape) : node;
  return price.ok && price.value > 0n ? price.value : null;
}
