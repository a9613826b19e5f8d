import { signBatchReport } from "@dataset-oracle/protocol/batch-report";
import {
  BatchReportRequest,
  ReportRequest,
  type SignedBatchReport,
  type SignedReport,
} from "@dataset-oracle/protocol/http-schemas/reports";
import { type Outcome, signReport, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { Value } from "@sinclair/typebox/value";
import Fastify, { type FastifyReply } from "fastify";
import { type Address, type Hex, numberToHex, parseEther, toHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { closeAtEnd } from "./close-at-end.js";

/** The ways in which a provider can behave. */
export type Behavior =
  | "honest"
  | "talkative"
  | "no data"
  | "no data with a value"
  | "unknown key"
  | "other kind"
  | "slow"
  | "hangs"
  | "garbage"
  | "not a report"
  | "wrong signer"
  | "another provider"
  | "another round"
  | "another key"
  | "huge value"
  | "high s"
  | "closes the connection"
  | "oversized"
  | "redirects"
  | "server error"
  | "busy source";

/** A stand-in for a provider node: a real server that signs what it is asked for, or misbehaves. */
export interface Provider {
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

/** Starts the providers of a committee, in the committee's order. */
export async function startProviders(count: number): Promise<Provider[]> {
  const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()));
  accounts.sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  return Promise.all(accounts.map((account, i) => startProvider(account, parseEther("2000") + BigInt(i))));
}

async function startProvider(account: PrivateKeyAccount, value: bigint): Promise<Provider> {
  const server = Fastify({ forceCloseConnections: true });
  const asked: ReportRequest[] = [];
  server.post("/report", async (request, reply) => {
    const question = Value.Decode(ReportRequest, request.body);
    asked.push(question);
    provider.traces.push(request.headers.traceparent?.toString());
    return answer(provider, question, reply);
  });
  const askedForRows: BatchReportRequest[] = [];
  server.post("/report/batch", async (request, reply) => {
    const question = Value.Decode(BatchReportRequest, request.body);
    askedForRows.push(question);
    if (provider.behavior === "hangs") return new Promise(() => {});
    return question.keys.some((key) => provider.unserved.has(key))
      ? refuse(reply, 422, "unknown_key")
      : row(provider, question);
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  const close = closeAtEnd(() => server.close());
  const provider: Provider = {
    ...{ account, address: account.address, url, behavior: "honest", value, values: new Map(), decided: new Map() },
    ...{ unserved: new Set<string>(), asked, askedForRows, traces: [], close },
    delay: () => new Promise((resolve) => setTimeout(resolve, 300)),
  };
  return provider;
}

async function answer(provider: Provider, question: ReportRequest, reply: FastifyReply): Promise<unknown> {
  const { account } = provider;
  const value = signedValue(provider, question.key);
  const decided = () => signed(account, question, ...outcomeOf(decide(provider, question, question.key)));
  if (provider.unserved.has(question.key)) return refuse(reply, 422, "unknown_key");
  switch (provider.behavior) {
    case "honest":
    case "no data":
      return decided();
    case "talkative":
      return { ...(await decided()), sources: ["of no known form"], more: 1 };
    case "no data with a value":
      return signed(account, question, "NOT_AVAILABLE", value);
    case "unknown key":
      return refuse(reply, 422, "unknown_key");
    case "other kind":
      return refuse(reply, 422, "other_kind");
    case "slow":
      await provider.delay();
      return decided();
    case "hangs":
      return new Promise(() => {});
    case "garbage":
      return "<html>";
    case "not a report":
      return { value: "1" };
    case "wrong signer":
      return {
        ...(await signed(privateKeyToAccount(generatePrivateKey()), question, "OK", value)),
        provider: account.address,
      };
    case "another provider":
      return signed(privateKeyToAccount(generatePrivateKey()), question, "OK", value);
    case "another round":
      return signed(account, { ...question, timestamp: question.timestamp - 1 }, "OK", value);
    case "another key":
      return signed(account, { ...question, key: "0x00" }, "OK", value);
    case "huge value":
      return signed(account, question, "OK", 2n ** 208n);
    case "high s":
      return withHighS(await signed(account, question, "OK", value));
    case "closes the connection":
      reply.raw.destroy();
      return reply.hijack();
    case "oversized":
      return { padding: "x".repeat(100_000) };
    case "redirects":
      return reply.redirect("/elsewhere");
    case "server error":
      return refuse(reply, 500, "internal_error");
    case "busy source":
      return refuse(reply, 503, "source_busy");
  }
}

const signedValue = ({ value, values }: Provider, key: string) => values.get(key) ?? value;

/** Decides the value of a key for a round once; null for "no data". */
function decide(
  provider: Provider,
  { network_id, dataset, timestamp }: Pick<ReportRequest, "network_id" | "dataset" | "timestamp">,
  key: string,
): bigint | null {
  const { decided, behavior } = provider;
  const id = `${network_id} ${dataset} ${key} ${timestamp}`;
  const known = decided.get(id);
  if (known !== undefined) return known;
  const value = behavior === "no data" ? null : signedValue(provider, key);
  decided.set(id, value);
  return value;
}

const outcomeOf = (value: bigint | null): [Outcome, bigint] => (value === null ? ["NOT_AVAILABLE", 0n] : ["OK", value]);

/** Signs a row of a batch. */
async function row(provider: Provider, question: BatchReportRequest): Promise<SignedBatchReport> {
  const { account } = provider;
  const keys = question.keys as Hex[];
  const decided = keys.map((key) => decide(provider, question, key));
  const missing = decided.reduce<bigint>((bits, value, i) => (value === null ? bits | (1n << BigInt(i)) : bits), 0n);
  const values = decided.map((value) => (value === null ? ZERO_VALUE : toHex(value, { size: 32 })));
  const signature = await signBatchReport(account, {
    ...{ chainId: question.network_id, dataset: question.dataset as Address, keys, missing, values },
    round: BigInt(question.timestamp),
  });
  const row = { provider: account.address, missing: toHex(missing, { size: 32 }), values, signature };
  return { ...question, ...row };
}

function refuse(reply: FastifyReply, status: number, code: string) {
  return reply.status(status).type("application/problem+json").send({ title: "No.", status, code, detail: "No." });
}

async function signed(
  account: PrivateKeyAccount,
  question: ReportRequest,
  outcome: Outcome,
  value: bigint,
): Promise<SignedReport> {
  const report = {
    chainId: question.network_id,
    dataset: question.dataset as Address,
    key: question.key as Hex,
    round: BigInt(question.timestamp),
    outcome,
    value: value === 0n ? ZERO_VALUE : toHex(value, { size: 32 }),
  };
  const signature = await signReport(account, report);
  return { ...question, provider: account.address, outcome, value: report.value, signature };
}

/** Returns the other form of the same signature, which the contract refuses. */
function withHighS(report: SignedReport): SignedReport {
  const { signature } = report;
  const s = numberToHex(ORDER - BigInt(`0x${signature.slice(66, 130)}`), { size: 32 });
  const v = signature.endsWith("1b") ? "1c" : "1b";
  return { ...report, signature: `${signature.slice(0, 66)}${s.slice(2)}${v}` };
}
