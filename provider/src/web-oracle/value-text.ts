import { formatUnits, hexToString, numberToHex } from "viem";
import { printable } from "../../printable.js";
import type { CompiledRequest } from "../compile-request-spec.js";

const MAX_TEXT = 300;

/** Writes a value for people: a number with its unit, a text as it reads. */
export function valueText({ type, spec }: CompiledRequest, value: bigint): string {
  return printable(plainText(type, spec, value)).slice(0, MAX_TEXT);
}

function plainText(type: CompiledRequest["type"], { unit, sources }: CompiledRequest["spec"], value: bigint): string {
  const [first] = sources;
  const word = numberToHex(value, { size: 32 });
  switch (type) {
    case "uint": {
      const number = formatUnits(value, unit?.decimals ?? first?.decimals ?? 0);
      return unit === undefined ? number : `${number} ${unit.symbol}`;
    }
    case "bool":
      return value === 1n ? "true" : "false";
    case "string":
      if (first?.hash !== true) return value === 0n ? "" : hexToString(word, { size: 32 });
      return word;
    case "bytes32":
      return word;
  }
}
