import { formatUnits, hexToString, numberToHex } from "viem";
import type { CompiledRequest } from "./compile-spec.js";

/** Writes a value for people: a number with its unit, a string as it reads. What a string contains is not escaped. */
export function valueText({ type, spec: { unit, sources } }: CompiledRequest, value: bigint): string {
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
