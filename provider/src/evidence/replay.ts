import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { keyToAscii } from "@dataset-oracle/protocol/key";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { ConfigError, loadConfig } from "@dataset-oracle/service/config";
import { Value } from "@sinclair/typebox/value";
import { type Hex, numberToHex } from "viem";
import { pairSources } from "../served.js";
import type { Answer } from "../source/answer.js";
import { parseDocument } from "../source/document.js";
import { requestId, type SourceRequest } from "../source/reader.js";
import { type FailureCode, type Reading, read } from "../source/result.js";
import { compileSpotSource, SpotSourceSpec } from "../source/spot-source.js";
import { askSources, decidePrice, type ExplainedPrice } from "../spot-price.js";
import { sha256 } from "./evidence.js";
import { EvidenceRecord, type RecordedAnswer } from "./record.js";

/** What evidence comes to, beside what was decided then. */
export interface Replay {
  readonly record: EvidenceRecord;
  readonly price: ExplainedPrice;
  /** As the decision has it. */
  readonly outcome: EvidenceRecord["outcome"];
  readonly value: Hex;
  readonly isSame: boolean;
}

/** Larger than any answer or spec. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Computes a decision again from its evidence, without a network.
 *
 * @param file The decision's file; specs and answers are read beside it, and checked against their hashes.
 * @throws ConfigError when something is missing, or is not what its hash says.
 */
export async function replay(file: string): Promise<Replay> {
  const record = loadConfig(file, EvidenceRecord);
  const textOf = (hash: string) => readText(dirname(file), hash);
  const sources = record.specs.map((hash) => {
    const spec = JSON.parse(textOf(hash));
    const source = Value.Check(SpotSourceSpec, spec) ? compileSpotSource(spec) : null;
    if (source?.ok !== true) throw new ConfigError(`${file}: the spec ${hash} is none that this version can use.`);
    return source.value;
  });
  const name = keyToAscii(record.key as Hex) ?? "";
  const pair = name.startsWith("SPOTPX/") ? name.slice("SPOTPX/".length) : "";
  if (pair === "") throw new ConfigError(`${file}: ${name || record.key} is no spot price's key.`);

  const answers = new Map(
    record.answers.map(({ body, ...answer }) => {
      const request = { ...answer, ...(body !== undefined && { body }) };
      return [requestId(request), request] as const;
    }),
  );
  const reader = {
    async read(request: SourceRequest): Promise<Reading<Answer>> {
      const answer = answers.get(requestId(request));
      if (answer === undefined) throw new ConfigError(`${file}: what ${request.url} answered is not in it.`);
      return toReading(answer, textOf);
    },
  };
  const { policy } = record;
  const at = BigInt(record.at);
  const asked = pairSources(pair, sources, policy.minSources, record.overrides);
  const price = decidePrice(await askSources(asked, { reader, isReserved: false, policy, at }), { policy, at });
  const outcome = price.kind === "price" ? "OK" : "NOT_AVAILABLE";
  const value = price.kind === "price" ? numberToHex(price.price, { size: 32 }) : ZERO_VALUE;
  return { record, price, outcome, value, isSame: outcome === record.outcome && value === record.value };
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

function readText(folder: string, hash: string): string {
  const path = join(folder, `${hash}.gz`);
  let text: string;
  try {
    text = gunzipSync(readFileSync(path), { maxOutputLength: MAX_BYTES }).toString("utf8");
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  if (sha256(text) !== hash) throw new ConfigError(`${path} is not what its name says: it was changed.`);
  return text;
}
