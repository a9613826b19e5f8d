import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { MAX_SPEC_BYTES } from "@dataset-oracle/protocol/spec-hash";
import canonicalize from "canonicalize";
import { bytesToHex, type Hex, hexToBytes } from "viem";

/** Returns a value's canonical JSON (RFC 8785) in UTF-8. Fails when it has none, or one too long for the registry. */
export function toCanonicalJson(value: unknown): Result<Hex> {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (error) {
    return err(`It cannot be written as canonical JSON: ${(error as Error).message}.`);
  }
  if (text === undefined) return err("It is not JSON.");
  if (/\\ud[89a-f]/.test(text)) return err("It contains half of a surrogate pair, which UTF-8 cannot encode.");
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_SPEC_BYTES) {
    return err(`Its canonical JSON has ${bytes.length} bytes, more than ${MAX_SPEC_BYTES}. Shorten the spec.`);
  }
  return ok(bytesToHex(bytes));
}

/** Parses canonical JSON and fails on any other, so that each spec has exactly one hash. */
export function parseCanonicalSpec(bytes: Hex): Result<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(hexToBytes(bytes)));
  } catch (error) {
    return err(`It is not JSON in UTF-8: ${(error as Error).message}.`);
  }
  const canonical = toCanonicalJson(value);
  if (!canonical.ok) return canonical;
  return canonical.value === bytes ? ok(value) : err("It is JSON, but not canonical (RFC 8785).");
}
