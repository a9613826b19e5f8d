import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  EvidenceAnswer,
  type EvidenceRecord,
  SpotPriceRecord,
  WebOracleRecord,
} from "@dataset-oracle/protocol/http-schemas/evidence";
import { oneOf, strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import { requireValid } from "@dataset-oracle/service/config/require-valid";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** A decision's evidence in a file. */
export interface LoadedEvidence {
  readonly record: EvidenceRecord;
  /**
   * Returns the spec or the answer with a SHA-256.
   *
   * @throws ConfigError when it is missing or does not match its hash.
   */
  readonly textOf: (hash: string) => string;
}

/** Larger than any answer or spec. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The field that tells the kinds of records apart. */
const AnyRecord = Type.Object({ kind: oneOf(["spot_price", "web_oracle"]) });

/** An answer of `POST /evidence`. Its record is checked separately, so that mistakes in it are named. */
const AnyAnswer = Type.Object({ ...EvidenceAnswer.properties, record: AnyRecord }, strict);

/**
 * Reads evidence: a file of a provider's folder, whose specs and answers are in files beside it, or an answer of
 * `POST /evidence`, which has them in it.
 *
 * @throws ConfigError
 */
export function loadEvidence(file: string): LoadedEvidence {
  const json = readJsonFile(file);
  if (!Value.Check(Type.Object({ record: Type.Unknown() }), json)) {
    return { record: requireRecord(file, json), textOf: (hash) => readText(file, hash) };
  }
  const { record, texts } = requireValid(file, AnyAnswer, json);
  return { record: requireRecord(file, record), textOf: (hash) => textIn(file, texts, hash) };
}

function requireRecord(file: string, json: unknown): EvidenceRecord {
  const { kind } = requireValid(file, AnyRecord, json);
  return kind === "spot_price" ? requireValid(file, SpotPriceRecord, json) : requireValid(file, WebOracleRecord, json);
}

/** Reads a spec or an answer from the folder of a decision's file. */
function readText(file: string, hash: string): string {
  const path = join(dirname(file), `${hash}.gz`);
  // ConfigError replaces 64 hex digits, which could be a private key.
  const shown = join(dirname(file), `${hash.slice(0, 12)}….gz`);
  let text: string;
  try {
    text = gunzipSync(readFileSync(path), { maxOutputLength: MAX_BYTES }).toString("utf8");
  } catch (error) {
    throw new ConfigError(
      `${shown} cannot be read: ${(error as NodeJS.ErrnoException).code}. ` +
        "Keep the decision's file beside its specs and answers.",
    );
  }
  if (sha256(text) !== hash) throw new ConfigError(`${shown} does not match the hash in its name: it was changed.`);
  return text;
}

function textIn(file: string, texts: EvidenceAnswer["texts"], hash: string): string {
  const text = Object.hasOwn(texts, hash) ? texts[hash] : undefined;
  // ConfigError replaces 64 hex digits, which could be a private key.
  const short = hash.slice(0, 12);
  if (text === undefined)
    throw new ConfigError(`${file}: it has no text with the SHA-256 ${short}... Save the whole answer.`);
  if (sha256(text) !== hash) {
    throw new ConfigError(`${file}: the text ${short}... does not match its hash: it was changed.`);
  }
  return text;
}
