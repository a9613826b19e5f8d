import {
  MAX_STREAMED_REPORTS,
  NDJSON_CONTENT_TYPE,
  ReportStreamLine,
  type ReportStreamRequest,
} from "@dataset-oracle/protocol/http-schemas/reports";
import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { err, ok } from "@dataset-oracle/protocol/result";
import { ABORTED, tooLarge } from "@dataset-oracle/service/http-client/fetch-result";
import { LineSplitter } from "@dataset-oracle/service/http-client/line-splitter";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Batcher } from "../batcher.js";
import type { GuardedHttp } from "../peers/guarded-http.js";
import type { Clock } from "../process-context.js";
import { type AnsweredOrNot, postQuestion } from "./post-question.js";

const MAX_REPORT_BYTES = 16 * 1024;
/** A line holds little more than the report. */
const MAX_LINE_BYTES = MAX_REPORT_BYTES + 128;
/** How long a provider that does not know `POST /report/stream` is asked for each report by itself. */
const REMEMBER_MS = 600_000;

const reportLine = TypeCompiler.Compile(ReportStreamLine);

type ReportQuestion = ReportStreamRequest["requests"][number];

interface Question {
  readonly request: ReportQuestion;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly settle: (answer: AnsweredOrNot) => void;
  readonly reject: (error: unknown) => void;
  isSettled: boolean;
}

interface Provider {
  readonly questions: Batcher<Question>;
  /** Until then it is asked for each report by itself; in milliseconds since 1970. */
  apartUntil: number;
}

/**
 * Asks providers for reports. Questions to one provider at the same moment, or within a few milliseconds while it is
 * being asked, share a request, whose answers are streamed, so that a slow one delays no other. With a request for each
 * report, HTTP between processes would be a quarter of the work of a broadcast.
 */
export class JoinedReportRequests {
  /** By their base URL. */
  readonly #providers = new Map<string, Provider>();

  constructor(
    private readonly http: GuardedHttp,
    private readonly clock: Clock,
  ) {}

  /** Asks the provider at a base URL for a report. */
  ask(base: string, request: ReportQuestion, timeoutMs: number, signal: AbortSignal): Promise<AnsweredOrNot> {
    return new Promise((resolve, reject) => {
      const question: Question = { request, timeoutMs, signal, settle, reject, isSettled: false };
      const onAbort = () => settle(err(ABORTED));
      function settle(answer: AnsweredOrNot) {
        if (question.isSettled) return;
        question.isSettled = true;
        signal.removeEventListener("abort", onAbort);
        resolve(answer);
      }
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort);
      this.#enqueue(base, question);
    });
  }

  #enqueue(base: string, question: Question): void {
    const provider = this.#providerAt(base);
    if (this.clock() < provider.apartUntil) void this.#askAlone(base, question);
    else provider.questions.add(question);
  }

  #providerAt(base: string): Provider {
    const known = this.#providers.get(base);
    if (known !== undefined) return known;
    const questions = new Batcher<Question>(MAX_STREAMED_REPORTS, (some) => this.#send(base, provider, some));
    const provider: Provider = { questions, apartUntil: 0 };
    this.#providers.set(base, provider);
    return provider;
  }

  async #send(base: string, provider: Provider, all: readonly Question[]): Promise<void> {
    const questions = all.filter(({ isSettled }) => !isSettled);
    const [first, second] = questions;
    if (first === undefined) return;
    const asked = second === undefined ? this.#askAlone(base, first) : this.#askTogether(base, provider, questions);
    await asked.catch((error: unknown) => {
      for (const { reject } of questions) reject(error);
    });
  }

  async #askAlone(base: string, { request, timeoutMs, signal, settle, reject }: Question): Promise<void> {
    const { traceparent, ...report } = request;
    const headers = traceparent === undefined ? {} : { traceparent };
    const limits = { timeoutMs, maxBytes: MAX_REPORT_BYTES };
    const posted = { path: "/report", headers, body: JSON.stringify(report), limits } as const;
    await postQuestion(this.http, base, posted, signal).then(settle, reject);
  }

  async #askTogether(base: string, provider: Provider, questions: readonly Question[]): Promise<void> {
    const over = new AbortController();
    const onAbort = () => {
      if (questions.every(({ isSettled }) => isSettled)) over.abort();
    };
    for (const { signal } of questions) signal.addEventListener("abort", onAbort);
    const lines = new LineSplitter(MAX_LINE_BYTES, (line) => {
      const json = parseJson(line);
      if (!reportLine.Check(json)) return;
      questions[json.index]?.settle(ok({ status: json.status, json: json.body }));
    });
    const limits = {
      timeoutMs: Math.max(...questions.map(({ timeoutMs }) => timeoutMs)),
      maxBytes: MAX_LINE_BYTES * MAX_STREAMED_REPORTS,
    };
    const body = JSON.stringify({ requests: questions.map(({ request }) => request) });
    const onChunk = (chunk: Buffer) => lines.add(chunk);
    const headers = { accept: NDJSON_CONTENT_TYPE };
    const answer = await this.http.post(base, "/report/stream", headers, body, limits, over.signal, onChunk);
    for (const { signal } of questions) signal.removeEventListener("abort", onAbort);
    const unanswered = questions.filter(({ isSettled }) => !isSettled);
    if (answer.ok && (answer.value.status === 404 || answer.value.status === 405)) {
      provider.apartUntil = this.clock() + REMEMBER_MS;
      await Promise.all(unanswered.map((question) => this.#askAlone(base, question)));
      return;
    }
    const rest = (): AnsweredOrNot => {
      if (!answer.ok) return answer;
      const { status, text } = answer.value;
      if (status === 200 && lines.hasSkippedTooLong) return err(tooLarge(MAX_LINE_BYTES));
      return ok({ status, json: parseJson(text) });
    };
    for (const { settle } of unanswered) settle(rest());
  }
}
