import { type MessagePort, parentPort } from "node:worker_threads";
import type { RequestSpec } from "@dataset-oracle/protocol/request-spec";
import type { Result } from "@dataset-oracle/protocol/result";
import { LRUCache } from "lru-cache";
import type { Hex } from "viem";
import { type Json, parseExactJson } from "../source/exact-json.js";
import type { AnswerText } from "../source/judge-answer.js";
import type { Reading } from "../source/source-failure.js";
import { type CompiledRequest, compileSpec } from "./compile-spec.js";
import { type Extracted, extractValues, MAX_KEY_TEXT } from "./extract-values.js";

/** The answers to one key's requests, and what to look for in them. */
export interface ExtractionJob {
  readonly specHash: Hex;
  readonly spec: RequestSpec;
  readonly args: readonly string[];
  /** One for each source. */
  readonly answers: readonly Reading<AnswerText>[];
}

/** A job as it is sent to a worker. Null stands for the same source's answer in its job before, because copying it takes long. */
export interface PostedJob extends Omit<ExtractionJob, "answers"> {
  readonly answers: readonly (ExtractionJob["answers"][number] | null)[];
}

export interface Extraction extends Pick<Extracted, "readings"> {
  /** The number of steps taken, plus the number of characters parsed. */
  readonly work: number;
}

const MAX_SPECS = 100;

const specs = new LRUCache<Hex, Result<CompiledRequest>>({ max: MAX_SPECS });

/** One answer may serve many keys of a spec. Only the text of two keys is kept: parsed, it takes far more memory. */
const documents = new LRUCache<string, Reading<Json>>({
  maxSize: 2 * MAX_KEY_TEXT,
  sizeCalculation: (_, text) => text.length + 1,
});

function extract({ specHash, spec, args, answers }: ExtractionJob): Extraction {
  const compiled = specs.get(specHash) ?? compileSpec(spec);
  specs.set(specHash, compiled);
  const request = compiled.ok ? compiled.value.bind(args) : compiled;
  if (!request.ok) throw new Error(request.error);
  let parsed = 0;
  const { readings, steps } = extractValues(request.value.sources, answers, (text) => {
    const known = documents.get(text);
    if (known !== undefined) return known;
    const document = parseExactJson(text);
    documents.set(text, document);
    parsed += text.length;
    return document;
  });
  return { readings, work: steps + parsed };
}

const port = parentPort as MessagePort;
let last: ExtractionJob["answers"] = [];
port.on("message", (job: PostedJob) => {
  last = job.answers.map((answer, index) => answer ?? (last[index] as Reading<AnswerText>));
  port.postMessage(extract({ ...job, answers: last }));
});
// The pool counts the time of a job from here on, and not from when the thread was started.
port.postMessage("ready");
