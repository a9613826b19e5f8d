import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { type EvidenceRecord, SpotPriceRecord, WebOracleRecord } from "@dataset-oracle/protocol/http-schemas/evidence";
import { oneOf } from "@dataset-oracle/protocol/http-schemas/fields";
import type { SourceNote } from "@dataset-oracle/protocol/http-schemas/reports";
import { err, ok } from "@dataset-oracle/protocol/result";
import { parseWebOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { requireValid } from "@dataset-oracle/service/config/require-valid";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { FetchRequest } from "@dataset-oracle/service/untrusted/fetch-text";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Hex, keccak256, stringToHex } from "viem";
import type { ReportCaller } from "../callers/caller.js";
import { type Decision, toDecision } from "../decisions/decision-memory.js";
import { parseExactJson } from "../source/exact-json.js";
import type { Answer, AnswerText } from "../source/judge-answer.js";
import type { Reading, SourceFailure } from "../source/source-failure.js";
import type { SourceReader } from "../source/source-reader.js";
import { type FileRequest, requestId, type SourceRequest } from "../source/source-request.js";
import { compileSpotSource, SpotSourceSpec } from "../source/spot-source.js";
import { describeSources, type ValueWithSources } from "../value/combined-value.js";
import { readSpotPrice, sourcesOfPair } from "../value/spot-price.js";
import { compileCanonicalSpec } from "../web-oracle/compile-spec.js";
import { EXTRACT_HERE } from "../web-oracle/extract-values.js";
import { readWebOracleValue } from "../web-oracle/read-web-oracle-value.js";
import { toWebOracleKey, type WebOracleKey } from "../web-oracle/web-oracle-key-finder.js";
import { linesOf, type Place, readCompressed } from "./segment.js";

/** A value that was computed again from its evidence. */
export type Replay = {
  readonly value: ValueWithSources;
  readonly decision: Decision;
  /** True when the decision and the sources' parts in it are the same as in the record. */
  readonly isSame: boolean;
} & (
  | { readonly kind: "spot_price"; readonly record: SpotPriceRecord }
  | ({ readonly kind: "web_oracle"; readonly record: WebOracleRecord } & Pick<WebOracleKey, "compiled" | "request">)
);

/** Which decisions are computed again; all when nothing is given. */
export interface Selection {
  /** The time of the round. */
  readonly round?: number | undefined;
  /** As hex or as text. */
  readonly key?: string | undefined;
}

/**
 * Computes values again from their evidence, without a network.
 *
 * @param file A segment. The specs and answers in it are checked against their hashes.
 * @throws ConfigError when something is missing or does not match its hash.
 */
export async function* replay(file: string, selection: Selection = {}): AsyncGenerator<Replay> {
  const places = new Map<string, Place>();
  const textOf = (hash: string) => readText(file, hash, places.get(hash));
  try {
    for await (const line of linesOf(file)) {
      if ("hash" in line) places.set(line.hash, line.place);
      else if (isSelected(line.record, selection)) yield await replayRecord(file, line.record, textOf);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined || error instanceof ConfigError
      ? error
      : new ConfigError(`${file} cannot be read: ${code}. Name a file of evidence.`);
  }
}

function isSelected(record: Readonly<Record<string, unknown>>, { round, key }: Selection): boolean {
  const isOfRound = round === undefined || record.timestamp === round;
  return isOfRound && (key === undefined || record.key === key || keyToAscii(record.key as Hex) === key);
}

function replayRecord(file: string, json: unknown, textOf: TextOf): Promise<Replay> {
  const { kind } = requireValid(file, AnyRecord, json);
  return kind === "spot_price"
    ? replaySpotPrice(file, requireValid(file, SpotPriceRecord, json), textOf)
    : replayWebValue(file, requireValid(file, WebOracleRecord, json), textOf);
}

const REPLAY: ReportCaller = { id: "replay", mayUseReserve: false };

/** The field that tells the kinds of records apart. */
const AnyRecord = Type.Object({ kind: oneOf(["spot_price", "web_oracle"]) });

/** Larger than any answer or spec. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a spec or an answer from a segment. */
async function readText(file: string, hash: string, place: Place | undefined): Promise<string> {
  // ConfigError replaces 64 hex digits, which could be a private key.
  const shown = `${file}: the text ${hash.slice(0, 12)}…`;
  if (place === undefined) throw new ConfigError(`${shown} is missing. Use the file as the provider wrote it.`);
  let text: string;
  try {
    text = gunzipSync(await readCompressed(file, place), { maxOutputLength: MAX_BYTES }).toString("utf8");
  } catch (error) {
    throw new ConfigError(`${shown} cannot be read: ${(error as NodeJS.ErrnoException).code}. It was changed.`);
  }
  if (sha256(text) !== hash) throw new ConfigError(`${shown} does not match its hash: it was changed.`);
  return text;
}

/** Returns the spec or the answer with a SHA-256; throws ConfigError when it is missing or was changed. */
type TextOf = (hash: string) => Promise<string>;

async function replaySpotPrice(file: string, record: SpotPriceRecord, textOf: TextOf): Promise<Replay> {
  const specs = await Promise.all(record.specs.map(async (hash) => [hash, await textOf(hash)] as const));
  const sources = specs.map(([hash, text]) => {
    const spec = JSON.parse(text);
    const source = Value.Check(SpotSourceSpec, spec) ? compileSpotSource(spec) : null;
    if (source?.ok !== true)
      throw new ConfigError(
        `${file}: this version cannot use the spec ${hash.slice(0, 12)}... Use the provider version that wrote the evidence.`,
      );
    return source.value;
  });
  // The specs are stored in another order than the sources were asked in.
  const place = new Map(record.sources.map(({ name }, index) => [name, index]));
  sources.sort((a, b) => (place.get(a.name) ?? Infinity) - (place.get(b.name) ?? Infinity) || 0);
  const name = keyToAscii(record.key as Hex) ?? "";
  const pair = name.startsWith("SPOTPX/") ? name.slice("SPOTPX/".length) : "";
  if (pair === "") throw new ConfigError(`${file}: ${name || record.key} is not the key of a spot price.`);
  const reader = readerOf(file, record, textOf);
  const { policy } = record;
  const at = BigInt(record.at);
  const asked = sourcesOfPair(pair, sources, policy.minSources);
  const value = await readSpotPrice(asked, { reader, caller: REPLAY, policy, at });
  return { kind: "spot_price", record, value, ...decideAgain(record, value, "median") };
}

async function replayWebValue(file: string, record: WebOracleRecord, textOf: TextOf): Promise<Replay> {
  const key = parseWebOracleKey(record.key as Hex);
  if (!key.ok) throw new ConfigError(`${file}: its key is not one of the Web Oracle's: ${key.error}`);
  const { specHash, args } = key.value;
  const spec = stringToHex(await textOf(record.spec));
  if (keccak256(spec) !== specHash)
    throw new ConfigError(
      `${file}: the key names another spec than ${record.spec.slice(0, 12)}... The file was changed, or the key is wrong.`,
    );
  const compiled = compileCanonicalSpec(spec);
  if (!compiled.ok) throw new ConfigError(`${file}: this version cannot use the spec. ${compiled.error}`);
  const request = compiled.value.bind(args);
  if (!request.ok) throw new ConfigError(`${file}: ${request.error}`);
  const reader = readerOf(file, record, textOf);
  const asked = toWebOracleKey(record.key as Hex, key.value, compiled.value, request.value);
  const value = await readWebOracleValue(asked, { reader, caller: REPLAY }, EXTRACT_HERE);
  const again = decideAgain(record, value, compiled.value.kind);
  return { kind: "web_oracle", record, compiled: compiled.value, request: request.value, value, ...again };
}

function decideAgain(
  { outcome, value: signed, sources }: EvidenceRecord,
  value: ValueWithSources,
  kind: DatasetKind,
): Pick<Replay, "decision" | "isSame"> {
  const decision = toDecision(value.kind === "value" ? value.value : null);
  const again = describeSources(value.sources, kind);
  const isSameUse = isDeepStrictEqual(withoutWords(sources), withoutWords(again));
  return { decision, isSame: decision.outcome === outcome && decision.value === signed && isSameUse };
}

/** Reduces each reason to its code, because its words change between versions. */
const withoutWords = (sources: readonly SourceNote[]) =>
  sources.map((source) => ({ ...source, reason: source.reason?.replace(/:.*/, "") ?? null }));

/** Makes a reader that answers from the record. */
function readerOf(file: string, record: EvidenceRecord, textOf: TextOf): Pick<SourceReader, "read"> {
  const answers = new Map(record.answers.map((answer) => [requestId(answer as FetchRequest), answer]));
  function read(request: FileRequest): Promise<Reading<Answer>>;
  function read(request: SourceRequest): Promise<Reading<AnswerText>>;
  async function read(request: SourceRequest): Promise<Reading<AnswerText>> {
    const answer = answers.get(requestId(request));
    // ConfigError cuts a whole URL down to its host; without the scheme it shows all of it.
    const asked = request.url.replace("https://", "");
    if (answer === undefined)
      throw new ConfigError(`${file}: it has no answer from ${asked}. It was changed, or another version wrote it.`);
    if (answer.text === null) return err(answer.failure as SourceFailure);
    const text = await textOf(answer.text);
    const document = request.source === undefined ? ok(null) : parseExactJson(text);
    return document.ok ? ok({ document: document.value, text }) : document;
  }
  return { read };
}
