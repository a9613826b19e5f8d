import type { Address, Hash } from "viem";
import { withoutFinalSlashes } from "../base-url.js";
import type { DataRequest } from "../http-schemas/data-request.js";
import { PROBLEM_CONTENT_TYPE } from "../http-schemas/problem.js";
import { parseJson } from "../parse-json.js";
import { DataRequestError, parseProblem, unexpectedAnswer } from "./data-request-error.js";
import { Deadline } from "./deadline.js";
import { bodyText, failureOf, sendRequest, TooLong } from "./send-request.js";
import { type ServerSentEvent, serverSentEvents } from "./server-sent-events.js";
import { type BroadcastUpdate, toUpdate, type UnsentUpdate } from "./update-answer.js";
import { parseProgress, type UpdateProgress } from "./update-progress.js";

/** The request and the operators that receive it. */
export interface RequestUpdateParameters<Broadcast extends boolean = boolean> {
  /**
   * An operator's base URL, for example `https://oracle.example/v1`, to which `/data/request` is appended. Or several, such
   * as the operators of a network, in order of preference: the next one is asked when one fails, unless its transaction may
   * be on its way. One that accepts the request and does not answer delays the next by `timeoutMs`.
   */
  readonly url: string | readonly string[];
  /** The chain id of the dataset's network. */
  readonly networkId: number;
  /** The dataset's address. */
  readonly dataset: Address;
  /** The key in ASCII, for example `SPOTPX/ETH-USD`, or in hex after `0x`, as `spotPriceKey` gives it. */
  readonly key: string;
  /** If true, the operator sends the transaction and pays its gas. Otherwise it returns it, for `sendUpdate`. */
  readonly broadcast: Broadcast;
  /**
   * With `broadcast: true`, the maximum time to wait until the transaction is mined, in whole seconds, at most 60. By default
   * the answer comes when the transaction is accepted, or with `onProgress` when it is mined.
   */
  readonly wait?: number;
  /** Called for every step, in order; again from the first step when another operator is asked. */
  readonly onProgress?: (progress: UpdateProgress) => void;
  /**
   * The timeout of the request to each operator, in milliseconds. By default it is 45,000 plus `wait`, or 105,000 with
   * `onProgress` and without `wait`.
   */
  readonly timeoutMs?: number;
  /** Aborts the request and throws the signal's reason. The operator may still send a transaction. */
  readonly signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 45_000;

/** More than the largest answer and its progress need, for a committee of 255 members. */
const MAX_CHARACTERS = 1024 * 1024;

/** The operator has signed a transaction, and no node has taken it. */
const NOT_SENT: readonly string[] = ["out_of_funds", "fees_too_high", "queue_full", "signer_failed"];

/** The time after which an operator ends a stream by itself, in seconds. */
const STREAM_WAIT = 60;

/**
 * Requests a fresh value from an operator: `POST {url}/data/request`. The answer must be about the requested data
 * point, and a returned transaction must store it in that dataset and do nothing else. The providers' signatures are not
 * verified here, because the dataset does that: until the transaction is mined, the value is the operator's word.
 *
 * @throws `DataRequestError`, whose `problem.code` is the reason, of the operator that was asked last, with the errors of the
 * others as `earlier`, and its `transactionHash` if that is known; the signal's reason if it was aborted; an Error if there
 * is no URL.
 */
export async function requestUpdate<const Broadcast extends boolean>(
  parameters: RequestUpdateParameters<Broadcast>,
): Promise<Broadcast extends true ? BroadcastUpdate : UnsentUpdate>;
export async function requestUpdate(parameters: RequestUpdateParameters): Promise<BroadcastUpdate | UnsentUpdate> {
  const errors: DataRequestError[] = [];
  for (const url of [parameters.url].flat()) {
    try {
      return await requestFrom(url, parameters);
    } catch (error) {
      if (!(error instanceof DataRequestError)) throw error;
      error.earlier = errors.slice();
      if (error.transactionHash !== null) throw error;
      errors.push(error);
    }
  }
  throw errors.at(-1) ?? new Error("There is no operator to ask. Pass at least one URL as `url`.");
}

async function requestFrom(url: string, parameters: RequestUpdateParameters): Promise<BroadcastUpdate | UnsentUpdate> {
  const { wait, onProgress, signal } = parameters;
  let hash: Hash | null = null;
  const onStep = (step: UpdateProgress) => {
    if ("transaction_hash" in step) hash = step.transaction_hash as Hash;
    onProgress?.(step);
  };
  const waitMs = 1000 * (wait ?? (onProgress ? STREAM_WAIT : 0));
  const timeoutMs = parameters.timeoutMs ?? DEFAULT_TIMEOUT_MS + waitMs;
  const deadline = new Deadline(timeoutMs, signal);
  const networkFailure = (cause: unknown): never => {
    deadline.throwIfAborted();
    // By such an error Next.js learns that it cannot render a page before somebody asks for it.
    if (cause instanceof Error && "digest" in cause) throw cause;
    throw deadline.isOver ? timedOut(timeoutMs, cause) : unreachable(url, cause);
  };
  try {
    const response = await post(url, parameters, deadline.signal).catch(networkFailure);
    const text = textOf(response, deadline.signal, networkFailure);
    return toUpdate(parameters, response.status, await readAnswer(response, text, onStep));
  } catch (error) {
    const mayBeSent = error instanceof DataRequestError && !NOT_SENT.includes(error.problem.code);
    throw mayBeSent && hash !== null ? withTransaction(error, hash) : error;
  } finally {
    deadline.clear();
  }
}

function post(
  url: string,
  { networkId, dataset, key, broadcast, wait, onProgress }: RequestUpdateParameters,
  signal: AbortSignal,
) {
  const body: DataRequest = { network_id: networkId, dataset, key, broadcast };
  // A stream has the hash before the wait, whatever ends the connection then.
  const isStream = onProgress !== undefined || (broadcast && wait !== undefined);
  return sendRequest(`${withoutFinalSlashes(url)}/data/request`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: `${isStream ? "text/event-stream" : "application/json"}, ${PROBLEM_CONTENT_TYPE}`,
      ...(wait !== undefined && { prefer: `wait=${wait}` }),
    },
    body: JSON.stringify(body),
    signal,
  });
}

async function* textOf(response: Response, signal: AbortSignal, networkFailure: (cause: unknown) => never) {
  try {
    yield* bodyText(response, MAX_CHARACTERS, signal);
  } catch (cause) {
    if (cause instanceof TooLong) throw unexpectedAnswer(response.status, `has ${cause.message}`);
    networkFailure(cause);
  }
}

/** Reads the body of the answer. Throws `DataRequestError` if it is a problem. */
async function readAnswer(
  { status, headers }: Response,
  text: AsyncIterable<string>,
  onStep: (step: UpdateProgress) => void,
): Promise<unknown> {
  if (headers.get("content-type")?.startsWith("text/event-stream")) {
    return readStream(serverSentEvents(text), status, onStep);
  }
  let json = "";
  for await (const part of text) json += part;
  const answer = parseJson(json);
  if (status === 200) return answer;
  const problem = parseProblem(answer, status);
  if (!problem) throw unexpectedAnswer(status, `has the status ${status} and no valid problem details`);
  throw new DataRequestError(problem, secondsOf(headers.get("retry-after")));
}

const secondsOf = (said: unknown) => (/^\d+$/.test(String(said)) ? Number(said) : null);

async function readStream(
  events: AsyncIterable<ServerSentEvent>,
  status: number,
  onStep: (step: UpdateProgress) => void,
): Promise<unknown> {
  for await (const { event, data: text } of events) {
    const data = parseJson(text);
    if (event === "answer") return data;
    const problem = event === "problem" ? parseProblem(data, status) : null;
    if (problem) throw new DataRequestError(problem, secondsOf((data as { retry_after?: unknown }).retry_after));
    const step = parseProgress(event, data);
    if (step) onStep(step);
  }
  throw unexpectedAnswer(status, "is a stream that ended without an answer");
}

function timedOut(timeoutMs: number, cause: unknown): DataRequestError {
  return new DataRequestError(
    {
      title: `The operator did not answer within ${timeoutMs} ms.`,
      code: "timeout",
      timeoutMs,
      detail: "An update may still be on its way: query the data point, or try again with a longer `timeoutMs`.",
    },
    null,
    { cause },
  );
}

/** Adds the transaction that the operator had signed before its request failed. */
function withTransaction({ problem, retryAfterSeconds, cause }: DataRequestError, hash: Hash): DataRequestError {
  const detail = `${problem.detail} The operator had signed the transaction ${hash}: look for it before you ask again.`;
  const error = new DataRequestError({ ...problem, detail }, retryAfterSeconds, { cause });
  error.transactionHash = hash;
  return error;
}

function unreachable(url: string, cause: unknown): DataRequestError {
  const advice = "Check the URL and the network, or ask another operator: the dataset accepts updates from anyone.";
  // User info, a path or a query may hold a token, and some errors quote the URL.
  const failure = failureOf(cause);
  const reason = /URL|:\/\//.test(failure) ? "" : `: ${failure}`;
  const [title, detail] = /^[\w.-]+:\d+(?:\/|$)/.test(url)
    ? ["The operator's URL does not begin with http:// or https://.", "Write it in front of the host."]
    : [`The operator at ${originOf(url)} cannot be reached${reason}.`, advice];
  return new DataRequestError({ title, code: "unreachable", detail }, null, { cause });
}

function originOf(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return "the given URL";
  }
}
