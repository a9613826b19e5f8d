import { setTimeout as delay } from "node:timers/promises";
import { signBatchReport } from "@dataset-oracle/protocol/batch-report";
import {
  BatchReportRequest,
  ReportRequest,
  type SignedBatchReport,
  type SignedReport,
} from "@dataset-oracle/protocol/http-schemas/reports";
import { type Outcome, signReport, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { Value } from "@sinclair/typebox/value";
import Fastify, { type FastifyReply } from "fastify";
import { type Address, type Hex, numberToHex, parseEther, toHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

/** The ways in which a provider can behave. */
export type Behavior =
  | "honest"
  | "no data"
  | "no data with a value"
  | "unknown key"
  | "other kind"
  | "slow"
  | "hangs"
  | "garbage"
  | "wrong signer"
  | "another provider"
  | "another round"
  | "huge value"
  | "high s"
  | "closes the connection"
  | "oversized"
  | "redirects"
  | "server error"
  | "busy source"
  | "right clock";

/** A stand-in for a provider node: a real server that signs what it is asked for, or misbehaves. */
export interface StubProvider {
  readonly account: PrivateKeyAccount;
  readonly address: Address;
  readonly url: string;
  behavior: Behavior;
  value: bigint;
  /** The values of keys that differ from `value`. */
  readonly values: Map<string, bigint>;
  /**
   * Its values by key and round, null for "no data": an honest provider never signs two contents for one key and round.
   */
  readonly decided: Map<string, bigint | null>;
  /** What its reports say about its sources, which is not signed. */
  sources: unknown;
  /** The keys that it refuses, alone and in batches. */
  readonly unserved: Set<string>;
  /** The wait of a slow provider; 300 ms by default. */
  delay: () => Promise<unknown>;
  /** The `traceparent` of each request for a report. */
  readonly traces: (string | undefined)[];
  /** The requests so far. */
  readonly asked: ReportRequest[];
  readonly askedForRows: BatchReportRequest[];
  close(): Promise<void>;
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const newAccount = () => privateKeyToAccount(generatePrivateKey());

/** Starts the providers of a committee, in the committee's order. */
export async function startProviders(size: number): Promise<StubProvider[]> {
  const accounts = Array.from({ length: size }, newAccount);
  const sorted = accounts.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  return Promise.all(sorted.map((account, i) => startProvider(account, parseEther("2000") + BigInt(i))));
}

async function startProvider(account: PrivateKeyAccount, value: bigint): Promise<StubProvider> {
  const server = Fastify({ forceCloseConnections: true });
  const provider = {
    ...{ account, address: account.address, behavior: "honest" as Behavior, value },
    ...{ values: new Map(), decided: new Map(), unserved: new Set<string>(), traces: [], asked: [], askedForRows: [] },
    delay: () => delay(300),
  } as unknown as StubProvider;
  server.post("/report", async (request, reply) => {
    const question = Value.Decode(ReportRequest, request.body);
    provider.asked.push(question);
    provider.traces.push(request.headers.traceparent?.toString());
    return answer(provider, reply, [question.key], question.timestamp, (behavior) =>
      report(provider, question, behavior),
    );
  });
  server.post("/report/batch", async (request, reply) => {
    const question = Value.Decode(BatchReportRequest, request.body);
    provider.askedForRows.push(question);
    return answer(provider, reply, question.keys, question.timestamp, (behavior) => row(provider, question, behavior));
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  return Object.assign(provider, { url, close: closeAtEnd(() => server.close()) });
}

/** Answers as the provider behaves towards every request, or else with what it was asked for. */
async function answer(
  { behavior, delay, unserved }: StubProvider,
  reply: FastifyReply,
  keys: readonly string[],
  round: number,
  sign: (behavior: Behavior) => Promise<unknown>,
): Promise<unknown> {
  const refuse = (status: number, code: string) =>
    reply.status(status).type("application/problem+json").send({ title: "No.", status, code, detail: "No." });
  if (keys.some((key) => unserved.has(key))) return refuse(422, "unknown_key");
  switch (behavior) {
    case "unknown key":
      return refuse(422, "unknown_key");
    case "other kind":
      return refuse(422, "other_kind");
    case "server error":
      return refuse(500, "internal_error");
    case "busy source":
      return refuse(503, "source_busy");
    case "hangs":
      return new Promise(() => {});
    case "garbage":
      return "<html>";
    case "closes the connection":
      reply.raw.destroy();
      return reply.hijack();
    case "oversized":
      return { padding: "x".repeat(100_000) };
    case "redirects":
      return reply.redirect("/elsewhere");
    case "right clock": {
      // Whatever the time of day of this process is set to.
      const ageMs = performance.timeOrigin + performance.now() - round * 1_000;
      if (Math.abs(ageMs) < 60_000) return sign(behavior);
      return refuse(422, ageMs > 0 ? "round_too_old" : "round_in_future");
    }
    case "slow":
      await delay();
      return sign(behavior);
    default:
      return sign(behavior);
  }
}

/** Signs a report. */
async function report(provider: StubProvider, question: ReportRequest, behavior: Behavior): Promise<unknown> {
  const { account } = provider;
  const value = provider.values.get(question.key) ?? provider.value;
  switch (behavior) {
    case "no data with a value":
      return signed(account, question, "NOT_AVAILABLE", value);
    case "wrong signer":
      return { ...(await signed(newAccount(), question, "OK", value)), provider: account.address };
    case "another provider":
      return signed(newAccount(), question, "OK", value);
    case "another round":
      return signed(account, { ...question, timestamp: question.timestamp - 1 }, "OK", value);
    case "huge value":
      return signed(account, question, "OK", 2n ** 208n);
    case "high s":
      return withHighS(await signed(account, question, "OK", value));
  }
  const decided = decide(provider, question, question.key, behavior);
  const { sources } = provider;
  return { ...(await signed(account, question, decided === null ? "NOT_AVAILABLE" : "OK", decided ?? 0n)), sources };
}

/** Decides the value of a key for a round once; null for "no data". */
function decide(
  { decided, values, value }: StubProvider,
  { network_id, dataset, timestamp }: Pick<ReportRequest, "network_id" | "dataset" | "timestamp">,
  key: string,
  behavior: Behavior,
): bigint | null {
  const id = `${network_id} ${dataset} ${key} ${timestamp}`;
  if (!decided.has(id)) decided.set(id, behavior === "no data" ? null : (values.get(key) ?? value));
  return decided.get(id) ?? null;
}

/** Signs a row of a batch. */
async function row(
  provider: StubProvider,
  question: BatchReportRequest,
  behavior: Behavior,
): Promise<SignedBatchReport> {
  const { account } = provider;
  const keys = question.keys as Hex[];
  const decided = keys.map((key) => decide(provider, question, key, behavior));
  const missing = decided.reduce<bigint>((bits, value, i) => (value === null ? bits | (1n << BigInt(i)) : bits), 0n);
  const values = decided.map(word);
  const signature = await signBatchReport(account, {
    ...{ chainId: question.network_id, dataset: question.dataset as Address, keys, missing, values },
    round: BigInt(question.timestamp),
  });
  const row = { provider: account.address, missing: numberToHex(missing, { size: 32 }), values, signature };
  return { ...question, ...row };
}

const word = (value: bigint | null): Hex => (value ? toHex(value, { size: 32 }) : ZERO_VALUE);

async function signed(
  account: PrivateKeyAccount,
  question: ReportRequest,
  outcome: Outcome,
  number: bigint,
): Promise<SignedReport> {
  const { network_id: chainId, timestamp } = question;
  const [dataset, key, value] = [question.dataset as Address, question.key as Hex, word(number)];
  const signature = await signReport(account, { chainId, dataset, key, round: BigInt(timestamp), outcome, value });
  return { ...question, provider: account.address, outcome, value, signature };
}

/** Returns the other form of the same signature, which the contract refuses. */
function withHighS(report: SignedReport): SignedReport {
  const { signature } = report;
  const s = numberToHex(ORDER - BigInt(`0x${signature.slice(66, 130)}`), { size: 32 });
  const v = signature.endsWith("1b") ? "1c" : "1b";
  return { ...report, signature: `${signature.slice(0, 66)}${s.slice(2)}${v}` };
}
