import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Address, decodeFunctionData, type Hash, type Hex, hexToBigInt, isAddressEqual, numberToHex } from "viem";
import { datasetAbi } from "../abi/dataset.js";
import { parseKey } from "../key.js";
import type { SignedValue } from "../update.js";
import { AnsweredReport, DataAnswer, type DataRequest, PROBLEM_CONTENT_TYPE, UnsentTransaction } from "../wire.js";
import { DataRequestError, parseProblem, unexpectedAnswer } from "./problem.js";
import { parseProgress, type UpdateProgress } from "./progress.js";
import { type QueryResult, queryResult } from "./query-result.js";
import { type Reach, type ServerSentEvent, serverSentEvents } from "./server-sent-events.js";

/** What to ask of which operator. */
export interface RequestUpdateParameters<Broadcast extends boolean = boolean> {
  /** The operator's base URL, for example `https://oracle.example/v1`: the request goes to `/data/request` under it. */
  readonly url: string;
  /** The chain id of the dataset's network. */
  readonly networkId: number;
  /** The dataset's address. */
  readonly dataset: Address;
  /** The key in ASCII, for example `SPOTPX/ETH-USD`, or in hex after `0x`, as `spotPriceKey` gives it. */
  readonly key: string;
  /** Whether the operator sends the transaction and pays its gas. If not, it is answered: pass it to `sendUpdate`. */
  readonly broadcast: Broadcast;
  /**
   * With `broadcast: true`: how many seconds to wait until the transaction is mined, at most 60. Without it the answer
   * comes when the transaction is accepted, or with `onProgress` when it is mined.
   */
  readonly wait?: number;
  /** Hears of every step, in their order. */
  readonly onProgress?: (progress: UpdateProgress) => void;
  /** The deadline of the whole request, in milliseconds: 45,000 and the wait, if it is left out. */
  readonly timeoutMs?: number;
  /** Ends the request; its reason is thrown. A transaction may be sent all the same. */
  readonly signal?: AbortSignal;
}

/** What both answers have: the data point as it is, or will be, stored. */
interface Update extends QueryResult {
  /** The chain id of the dataset's network. */
  readonly networkId: number;
  /** With its EIP-55 checksum. */
  readonly dataset: Address;
  /** The key's bytes in lower case. */
  readonly key: Hex;
  /** Who signed which value, each in 32 bytes. Empty when another carrier, or an earlier request, stored the round. */
  readonly reports: readonly SignedValue[];
}

/** The answer with `broadcast: true`. */
export interface BroadcastUpdate extends Update {
  /** The transaction that stored it, or is about to; null when another carrier's could not be found. */
  readonly transactionHash: Hash | null;
  /** Whether what was stored is so young that nothing was sent. */
  readonly fresh: boolean;
}

/** The answer with `broadcast: false`. */
export interface UnsentUpdate extends Update {
  /** What stores it once it is mined. */
  readonly transaction: UpdateTransaction;
}

/** An update's transaction, as viem's `sendTransaction` takes it. It calls an update of this key, and nothing else. */
export interface UpdateTransaction {
  readonly chainId: number;
  /** The dataset. */
  readonly to: Address;
  readonly data: Hex;
  readonly value: 0n;
  /** The gas limit. */
  readonly gas: bigint;
}

const DEFAULT_TIMEOUT_MS = 45_000;

/** How long an operator waits by itself before it ends a stream, in seconds. */
const STREAM_WAIT = 60;

/**
 * Asks an operator for a fresh value: `POST {url}/data/request`. The answer is checked to be about what was asked, and a
 * transaction to be nothing but an update of that key in that dataset. The providers' signatures are not checked here:
 * the dataset does that.
 *
 * @throws `DataRequestError`, whose `problem.code` says why; and the signal's reason when it was aborted.
 */
export async function requestUpdate<const Broadcast extends boolean>(
  parameters: RequestUpdateParameters<Broadcast>,
): Promise<Broadcast extends true ? BroadcastUpdate : UnsentUpdate>;
export async function requestUpdate(parameters: RequestUpdateParameters): Promise<BroadcastUpdate | UnsentUpdate> {
  const { url, wait, onProgress, signal } = parameters;
  const waitMs = 1000 * (wait ?? (onProgress ? STREAM_WAIT : 0));
  const timeoutMs = parameters.timeoutMs ?? DEFAULT_TIMEOUT_MS + waitMs;
  const deadline = AbortSignal.timeout(timeoutMs);
  const reach: Reach = (work) =>
    work.catch((cause) => {
      signal?.throwIfAborted();
      throw deadline.aborted ? timedOut(timeoutMs, cause) : unreachable(url, cause);
    });
  const response = await reach(post(parameters, signal ? AbortSignal.any([signal, deadline]) : deadline));
  return toUpdate(parameters, response.status, await readAnswer(response, reach, onProgress));
}

function post(
  { url, networkId, dataset, key, broadcast, wait, onProgress }: RequestUpdateParameters,
  signal: AbortSignal,
) {
  const body: DataRequest = { network_id: networkId, dataset, key, broadcast };
  return fetch(`${url.replace(/\/+$/, "")}/data/request`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: `${onProgress ? "text/event-stream" : "application/json"}, ${PROBLEM_CONTENT_TYPE}`,
      ...(wait !== undefined && { prefer: `wait=${wait}` }),
    },
    body: JSON.stringify(body),
    // A redirected POST would arrive as a GET.
    redirect: "error",
    signal,
  });
}

/** The answer's body; the problem that it is, as an error. */
async function readAnswer(
  response: Response,
  reach: Reach,
  onProgress: RequestUpdateParameters["onProgress"],
): Promise<unknown> {
  const { status, headers, body } = response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream");
  if (isStream && body) return readStream(serverSentEvents(body, reach), status, onProgress);
  const answer = parseJson(await reach(response.text()));
  if (status === 200) return answer;
  const problem = parseProblem(answer, status);
  if (!problem) throw unexpectedAnswer(status, `has the status ${status} and no problem that can be read`);
  const retryAfter = headers.get("retry-after");
  throw new DataRequestError(problem, retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null);
}

async function readStream(
  events: AsyncIterable<ServerSentEvent>,
  status: number,
  onProgress: RequestUpdateParameters["onProgress"],
): Promise<unknown> {
  for await (const { event, data: text } of events) {
    const data = parseJson(text);
    if (event === "answer") return data;
    const problem = event === "problem" ? parseProblem(data, status) : null;
    if (problem) throw new DataRequestError(problem);
    const progress = parseProgress(event, data);
    if (progress) onProgress?.(progress);
  }
  throw unexpectedAnswer(status, "is a stream that ended without an answer");
}

/** @returns Undefined for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A decimal string of at most 208 bits, or 32 bytes. */
const AnsweredValue = Type.String({ pattern: "^(?:\\d{1,63}|0x[0-9a-f]{64})$" });
const TransactionHash = Type.String({ pattern: "^0x[0-9a-f]{64}$" });

/** A newer operator may answer more than this client knows of: what is more is let be. */
const Answer = Type.Object({
  ...DataAnswer.properties,
  value: AnsweredValue,
  reports: Type.Array(Type.Object({ ...AnsweredReport.properties, value: AnsweredValue })),
  transaction_hash: Type.Optional(Type.Union([TransactionHash, Type.Null()])),
  transaction: Type.Optional(
    Type.Object({
      ...UnsentTransaction.properties,
      data: Type.String({ pattern: "^0x(?:[0-9a-f]{2})+$" }),
      gas: Type.String({ pattern: "^0x[0-9a-f]{1,16}$" }),
    }),
  ),
});

function toUpdate(
  { networkId, dataset, key, broadcast }: RequestUpdateParameters,
  httpStatus: number,
  answer: unknown,
): BroadcastUpdate | UnsentUpdate {
  if (!Value.Check(Answer, answer)) throw unexpectedAnswer(httpStatus, "has not the form of an answer");
  const asked = parseKey(key);
  const isAsked =
    answer.network_id === networkId &&
    isAddressEqual(answer.dataset as Address, dataset) &&
    asked.ok &&
    answer.key_hex === asked.value;
  if (!isAsked) throw unexpectedAnswer(httpStatus, "is about another data point than the one that was asked for");
  const update: Update = {
    networkId,
    dataset: answer.dataset as Address,
    key: asked.value,
    ...queryResult(answer.status, BigInt(answer.value), BigInt(answer.timestamp)),
    reports: answer.reports.map(({ provider, value, signature }) => ({
      provider: provider as Address,
      value: numberToHex(BigInt(value), { size: 32 }),
      signature: signature as Hex,
    })),
  };
  const { transaction, transaction_hash: transactionHash, fresh = false } = answer;
  if (broadcast && transactionHash !== undefined) {
    return { ...update, transactionHash: transactionHash as Hash | null, fresh };
  }
  if (!broadcast && transaction !== undefined && isUpdate(transaction, update)) {
    const { data, gas } = transaction;
    return {
      ...update,
      transaction: {
        chainId: networkId,
        to: update.dataset,
        data: data as Hex,
        value: 0n,
        gas: hexToBigInt(gas as Hex),
      },
    };
  }
  throw unexpectedAnswer(httpStatus, `has no ${broadcast ? "transaction hash" : "transaction that updates this key"}`);
}

/** Whether a transaction updates this key and does nothing else: whoever signs it trusts no operator. */
function isUpdate({ chainId, to, data }: UnsentTransaction, { networkId, dataset, key }: Update): boolean {
  if (Number(chainId) !== networkId || !isAddressEqual(to as Address, dataset)) return false;
  try {
    const { functionName, args } = decodeFunctionData({ abi: datasetAbi, data: data as Hex });
    return (functionName === "update" || functionName === "updateNotAvailable") && args[0] === key;
  } catch {
    return false;
  }
}

function timedOut(timeoutMs: number, cause: unknown): DataRequestError {
  return new DataRequestError(
    {
      title: `The operator did not answer within ${timeoutMs} ms.`,
      code: "timeout",
      timeoutMs,
      detail: "An update may be on its way all the same: query the data point, or try again with a longer `timeoutMs`.",
    },
    null,
    { cause },
  );
}

function unreachable(url: string, cause: unknown): DataRequestError {
  return new DataRequestError(
    {
      title: `The operator at ${url} cannot be reached.`,
      code: "unreachable",
      detail: "Check the URL and the network, or ask another operator: the dataset takes an update from anyone.",
    },
    null,
    { cause },
  );
}
