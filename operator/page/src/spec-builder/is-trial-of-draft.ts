import type { SpecTrial } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { type Hex, hexToString, keccak256 } from "viem";
import type { SpecDraft } from "./spec-draft";

/** Tells whether the bytes of a trial are those of a draft, and have the hash that the trial's key names. */
export function isTrialOfDraft({ spec_bytes: bytes, spec_hash: hash, key }: SpecTrial, draft: SpecDraft): boolean {
  if (keccak256(bytes as Hex) !== hash || !key.startsWith(`WEB/${hash.slice(2)}`)) return false;
  try {
    return isEqual(JSON.parse(hexToString(bytes as Hex)), JSON.parse(JSON.stringify(draft)));
  } catch {
    return false;
  }
}

function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const [names, others] = [Object.keys(a), Object.keys(b)];
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === others.length &&
    names.every((name) => isEqual((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]))
  );
}
