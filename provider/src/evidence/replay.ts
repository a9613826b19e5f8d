import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { keyToAscii } from "@dataset-oracle/protocol/key";
import { parseWebKey } from "@dataset-oracle/protocol/web-key";
import { ConfigError, loadConfig } from "@dataset-oracle/service/config";
import { Value } from "@sinclair/typebox/value";
import { type Hex, keccak256, stringToHex } from "viem";
import { toDecision } from "../decision.js";
import { pairSources } from "../served.js";
import type { Answer } from "../source/answer.js";
import { parseDocument } from "../source/document.js";
import { requestId, type SourceReader, type SourceRequest } from "../source/reader.js";
import { type FailureCode, type Reading, read } from "../source/reading.js";
import { compileSpotSource, SpotSourceSpec } from "../source/spot-source.js";
import { askSources, decidePrice, type ExplainedPrice } from "../spot-price.js";
import { type BoundRequest, type CompiledRequest, compileCanonical } from "../web-oracle/compile.js";
import { readWebValue, type WebReading } from "../web-oracle/web-oracle.js";
import { sha256 } from "./evidence-store.js";
import { AnyRecord, type EvidenceRecord, type RecordedAnswer, SpotPriceRecord, WebOracleRecord } from "./record.js";

/** What evidence comes to, beside what was decided then. */
interface Comparison {
  /** As the decision has it. */
  readonly outcome: EvidenceRecord["outcome"];
  readonly value: Hex;
  readonly isSame: boolean;
}

export type Replay = Comparison &
  (
    | { readonly kind: "spot_price"; readonly record: SpotPriceRecord; readonly price: ExplainedPrice }
    | {
        readonly kind: "web_oracle";
        readonly record: WebOracleRecord;
        readonly compiled: CompiledRequest;
        readonly request: BoundRequest;
        readonly reading: WebReading;
      }
  );

/** Larger than any answer or spec. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Computes a decision again from its evidence, without a network.
 *
 * @param file The decision's file; specs and answers are read beside it, and checked against their hashes.
 * @throws ConfigError when something is missing, or is not what its hash says.
 */
export async function replay(file: string): Promise<Replay> {
  const { kind } = loadConfig(file, AnyRecord);
  return kind === "spot_price" ? replaySpotPrice(file) : replayWebValue(file);
}

async function replaySpotPrice(file: string): Promise<Replay> {
  const record = loadConfig(file, SpotPriceRecord);
  const sources = record.specs.map((hash) => {
    const spec = JSON.parse(readText(file, hash));
    const source = Value.Check(SpotSourceSpec, spec) ? compileSpotSource(spec) : null;
    if (source?.ok !== true) throw new ConfigError(`${file}: the spec ${hash} is none that this version can use.`);
    return source.value;
  });
  const name = keyToAscii(record.key as Hex) ?? "";
  const pair = name.startsWith("SPOTPX/") ? name.slice("SPOTPX/".length) : "";
  if (pair === "") throw new ConfigError(`${file}: ${name || record.key} is no spot price's key.`);
  const reader = readerOf(file, record);
  const { policy } = record;
  const at = BigInt(record.at);
  const asked = pairSources(pair, sources, policy.minSources, record.overrides);
  const price = decidePrice(await askSources(asked, { reader, isReserved: false, policy, at }), { policy, at });
  return { kind: "spot_price", record, price, ...compare(record, price.kind === "price" ? price.price : null) };
}

async function replayWebValue(file: string): Promise<Replay> {
  const record = loadConfig(file, WebOracleRecord);
  const key = parseWebKey(record.key as Hex);
  if (!key.ok) throw new ConfigError(`${file}: its key is none of the Web Oracle's: ${key.error}`);
  const { specHash, args } = key.value;
  const spec = stringToHex(readText(file, record.spec));
  if (keccak256(spec) !== specHash) throw new ConfigError(`${file}: the spec ${record.spec} is not the key's.`);
  const compiled = compileCanonical(spec);
  if (!compiled.ok) throw new ConfigError(`${file}: this version cannot use the spec. ${compiled.error}`);
  const request = compiled.value.bind(args);
  if (!request.ok) throw new ConfigError(`${file}: ${request.error}`);
  const requests = request.value.sources.map((source) => ({ ...source.request, rateLimit: null }));
  const reading = await readWebValue({ request: request.value, requests }, readerOf(file, record), false);
  const { combined } = reading;
  const comparison = compare(record, combined.kind === "value" ? combined.value : null);
  return { kind: "web_oracle", record, compiled: compiled.value, request: request.value, reading, ...comparison };
}

/** @param value Null when there is no data. */
function compare(record: EvidenceRecord, value: bigint | null): Comparison {
  const again = toDecision(value);
  return { ...again, isSame: again.outcome === record.outcome && again.value === record.value };
}

/** Gives the answers that were recorded. */
function readerOf(file: string, record: EvidenceRecord): Pick<SourceReader, "read"> {
  const answers = new Map(
    record.answers.map(({ body, ...answer }) => {
      const request = { ...answer, ...(body !== undefined && { body }) };
      return [requestId(request), request] as const;
    }),
  );
  return {
    async read(request: SourceRequest): Promise<Reading<Answer>> {
      const answer = answers.get(requestId(request));
      // Without the scheme: of a whole URL, the error shows the host alone.
      const asked = request.url.replace("https://", "");
      if (answer === undefined) throw new ConfigError(`${file}: what ${asked} answered is not in it.`);
      return toReading(answer, (hash) => readText(file, hash));
    },
  };
}

function toReading(answer: RecordedAnswer, textOf: (hash: string) => string): Reading<Answer> {
  if (answer.text === null) {
    const failure = (answer.failure ?? "unreachable") as FailureCode;
    const retryAfter = answer.retry_after;
    return { ok: false, failure, detail: answer.detail ?? "", ...(retryAfter !== null && { retryAfter }) };
  }
  const text = textOf(answer.text);
  const document = parseDocument(text);
  return document.ok ? read({ document: document.value, text }) : document;
}

/** The text that lies beside a decision's file. */
function readText(file: string, hash: string): string {
  const path = join(dirname(file), `${hash}.gz`);
  let text: string;
  try {
    text = gunzipSync(readFileSync(path), { maxOutputLength: MAX_BYTES }).toString("utf8");
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  if (sha256(text) !== hash) throw new ConfigError(`${path} is not what its name says: it was changed.`);
  return text;
}
