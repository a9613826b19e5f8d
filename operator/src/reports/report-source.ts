import { setMaxListeners } from "node:events";
import type { Committee } from "@dataset-oracle/protocol/committee-hash";
import { orNull } from "@dataset-oracle/protocol/http-schemas/fields";
import {
  type BatchReportRequest,
  type ReportRequest,
  SignedBatchReport,
  SignedReport,
} from "@dataset-oracle/protocol/http-schemas/reports";
import type { FailureReason } from "@dataset-oracle/protocol/operator-problem";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { recoverSignerSync } from "@dataset-oracle/service/crypto/recover-signer-sync";
import { type Trace, traceHeaders } from "@dataset-oracle/service/http-server/trace";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Address, type Hex, hexToBigInt } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { ASK_AGAIN_AFTER_MS, GRACE_MS, LEAST_GATHER_MS, MOST_GATHER_MS } from "../schedule/transmission-schedule.js";
import { type Failure, isFailure } from "./failures.js";
import type { Providers, Question } from "./providers.js";
import { decideByQuorum, type ReportOrFailure, reachesQuorum } from "./quorum.js";
import type { ReportStatement, RowStatement, Statement, StatementFilter } from "./statement.js";

/** A provider's checked row of a batch, or why there is none. */
export type RowOrFailure = RowStatement | Failure;

export interface ReportSettings {
  /** The deadline of one request to one provider. */
  readonly providerTimeoutMs: number;
  /** How long the remaining providers are waited for once a quorum has answered. */
  readonly graceMs: number;
}

const MAX_REPORT_BYTES = 16 * 1024;
/** Room for 256 keys of 256 bytes in hex, and a value for each. */
const MAX_ROW_BYTES = 192 * 1024;

// Only the signed fields are checked. The rest of an answer, such as the sources used, is for people.
const signedReport = TypeCompiler.Compile(Type.Object(SignedReport.properties));
const noteOfSource = Type.Object({ name: Type.String(), reason: orNull(Type.String()) });
const withNotes = TypeCompiler.Compile(Type.Object({ sources: Type.Array(noteOfSource) }));
const MAX_REASON = 200;
// The keys are not looked at: comparing each with each, by TypeBox's hash, takes more time than all the rest of a row.
const signedRow = TypeCompiler.Compile(Type.Omit(Type.Object(SignedBatchReport.properties), ["keys"]));

/** How the members of a committee are asked, and when the wait for them ends. */
interface Gathering {
  /** True if a member that has not answered after a while is asked once more. */
  readonly asksAgain: boolean;
  /** How long it lasts at most; null if the deadline of each request is enough. */
  readonly mostMs: number | null;
  /** Returns how long the other members are waited for once enough have answered. */
  graceMs(elapsedMs: number): number;
  /** Reports whether nobody is waited for any more once enough have answered. @param missing Who has not. */
  isComplete(missing: readonly Address[]): boolean;
}

/** For an update, which contains every valid report at hand: the others get a short grace period. */
const forUpdate = (graceMs: number): Gathering => ({
  asksAgain: false,
  mostMs: null,
  graceMs: () => graceMs,
  isComplete: () => false,
});

/** For the turns of those of a better rank, as the transmission schedule says: it ends as soon as they have answered. */
const forTurns = (awaited: ReadonlySet<Address>): Gathering => ({
  asksAgain: true,
  mostMs: MOST_GATHER_MS,
  graceMs: (elapsedMs) => Math.max(GRACE_MS, LEAST_GATHER_MS - elapsedMs),
  isComplete: (missing) => !missing.some((member) => awaited.has(member)),
});

/** Gathers what the committee of one dataset signs. */
export class ReportSource {
  readonly #filters: StatementFilter[] = [];

  constructor(
    private readonly dataset: Dataset,
    private readonly providers: Providers,
    private readonly context: Pick<Context, "clock" | "closing">,
    private readonly settings: ReportSettings,
  ) {}

  /** Adds a filter of what counts. One that refuses a statement makes its signer count as absent. */
  addFilter(filter: StatementFilter): void {
    this.#filters.push(filter);
  }

  /**
   * Asks a committee for its reports on a key.
   *
   * @param round Seconds since 1970.
   * @param onReport Called with each report that counts.
   * @returns One answer for each member, in the committee's order.
   */
  gatherReports(
    key: Hex,
    round: bigint,
    { members }: Committee,
    trace: Trace | null,
    onReport: (report: ReportStatement) => void,
  ): Promise<readonly ReportOrFailure[]> {
    const { dataset } = this;
    const expected: ReportRequest = {
      network_id: dataset.chainId,
      dataset: dataset.address,
      key,
      timestamp: Number(round),
    };
    const question: Question<ReportStatement> = {
      path: "/report",
      isOwn: trace === null,
      headers: traceHeaders(trace),
      body: JSON.stringify(expected),
      limits: { timeoutMs: this.settings.providerTimeoutMs, maxBytes: MAX_REPORT_BYTES },
      read: this.#counting(reportReader(dataset, key, round, expected)),
    };
    const isEnough = (answers: readonly ReportOrFailure[]) =>
      decideByQuorum(members.length, answers).kind !== "no_quorum";
    return this.#askAll(question, members, isEnough, forUpdate(this.settings.graceMs), onReport);
  }

  /**
   * Asks a committee for its rows of a batch, for an update.
   *
   * @param keys 1 to 256.
   * @param round Seconds since 1970.
   * @returns One answer for each member, in the committee's order.
   */
  gatherRows(keys: readonly Hex[], round: bigint, committee: Committee): Promise<readonly RowOrFailure[]> {
    return this.#gatherRows(keys, round, committee, forUpdate(this.settings.graceMs));
  }

  /** As `gatherRows`, but it ends early, as the transmission schedule says. @param awaited Those of a better rank. */
  gatherRowsForTurns(
    keys: readonly Hex[],
    round: bigint,
    committee: Committee,
    awaited: ReadonlySet<Address>,
  ): Promise<readonly RowOrFailure[]> {
    return this.#gatherRows(keys, round, committee, forTurns(awaited));
  }

  #gatherRows(
    keys: readonly Hex[],
    round: bigint,
    { members }: Committee,
    gathering: Gathering,
  ): Promise<readonly RowOrFailure[]> {
    const { dataset } = this;
    const expected: BatchReportRequest = {
      network_id: dataset.chainId,
      dataset: dataset.address,
      keys: [...keys],
      timestamp: Number(round),
    };
    const question: Question<RowStatement> = {
      path: "/report/batch",
      isOwn: true,
      headers: {},
      body: JSON.stringify(expected),
      limits: { timeoutMs: this.settings.providerTimeoutMs, maxBytes: MAX_ROW_BYTES },
      read: this.#counting(rowReader(dataset, keys, round, expected)),
    };
    const isEnough = (answers: readonly RowOrFailure[]) =>
      reachesQuorum(answers.filter(({ kind }) => kind === "row").length, members.length);
    return this.#askAll(question, members, isEnough, gathering);
  }

  /** Makes a reader to whom a statement that a filter refuses is a failure. */
  #counting<T extends Statement>(read: Read<T>): Read<T> {
    return (json, provider, fail) => {
      const answer = read(json, provider, fail);
      if (isFailure(answer) || this.#filters.every((accepts) => accepts(this.dataset, answer))) return answer;
      return fail("contradicted", "signed two conflicting statements about one key and round");
    };
  }

  /** Asks all members at once, until the gathering says that enough have answered. */
  async #askAll<T extends Statement>(
    question: Question<T>,
    members: readonly Address[],
    isEnough: (answers: readonly (T | Failure)[]) => boolean,
    gathering: Gathering,
    onCounted: (answer: T) => void = () => {},
  ): Promise<readonly (T | Failure)[]> {
    const { clock, closing } = this.context;
    const over = new AbortController();
    // Each member's request listens to the signal.
    setMaxListeners(0, over.signal);
    const stop = () => over.abort();
    if (closing.aborted) stop();
    closing.addEventListener("abort", stop);
    const startedAt = clock.monotonic();
    const stopAfter = (ms: number) => void wait(ms, over.signal).then(stop);
    if (gathering.mostMs !== null) stopAfter(gathering.mostMs);
    const answers = new Map<Address, T | Failure>();
    const hasAnswered = (member: Address) => {
      const answer = answers.get(member);
      return answer !== undefined && !isFailure(answer);
    };
    let haveEnough = false;
    const take = (provider: Address, answer: T | Failure) => {
      answers.set(provider, answer);
      if (!isFailure(answer)) onCounted(answer);
      const hadEnough = haveEnough;
      haveEnough ||= isEnough([...answers.values()]);
      if (!haveEnough) return;
      if (gathering.isComplete(members.filter((member) => !hasAnswered(member)))) stop();
      if (!hadEnough) stopAfter(gathering.graceMs(clock.monotonic() - startedAt));
    };
    const ask = (provider: Address) =>
      gathering.asksAgain
        ? this.#askTwice(question, provider, over.signal)
        : this.providers.ask(question, provider, over.signal);
    await Promise.all(members.map(async (provider) => take(provider, await ask(provider))));
    stop();
    closing.removeEventListener("abort", stop);
    return members.flatMap((provider) => answers.get(provider) ?? []);
  }

  /** Asks one member, and once more if it has not answered after a while: a request, or its answer, can get lost. */
  async #askTwice<T extends Statement>(
    question: Question<T>,
    provider: Address,
    signal: AbortSignal,
  ): Promise<T | Failure> {
    const first = this.providers.ask(question, provider, signal);
    const early = await Promise.race([first, wait(ASK_AGAIN_AFTER_MS, signal).then(() => null)]);
    const isAnswered = early !== null && !(isFailure(early) && NOT_ANSWERED.includes(early.reason));
    if (isAnswered || signal.aborted) return first;
    const second = this.providers.ask(question, provider, signal);
    const usable = [first, second].map(async (asked) => {
      const answer = await asked;
      if (isFailure(answer)) throw answer;
      return answer;
    });
    return Promise.any(usable).catch(() => second);
  }
}

/** The reasons of failures in which a provider said nothing at all. */
const NOT_ANSWERED: readonly FailureReason[] = ["unreachable", "timeout"];

type Read<T> = Question<T>["read"];

/** Makes the reader of the report that was asked for, with a value that can be stored, signed by the provider. */
function reportReader(
  { digests, maxValue }: Dataset,
  key: Hex,
  round: bigint,
  expected: ReportRequest,
): Read<ReportStatement> {
  const digestOf = digests.of({ key, round });
  return (json, provider, fail) => {
    if (!signedReport.Check(json)) return fail("invalid_report", "answered with something other than a signed report");
    const difference = firstDifference(json, { ...expected, provider }) ?? (json.key === key ? null : "key");
    if (difference !== null) return fail("other_report", answeredForOther(difference, json));
    const { outcome } = json;
    const [value, signature] = [json.value as Hex, json.signature as Hex];
    if (outcome === "NOT_AVAILABLE" && value !== ZERO_VALUE) {
      return fail("invalid_report", "sent a value in a NOT_AVAILABLE report");
    }
    if (hexToBigInt(value) > maxValue) return fail("value_too_large", "signed a value that the dataset cannot store");
    if (recoverSignerSync(digestOf(outcome, value), signature) !== provider) {
      return fail("wrong_signer", "sent a report that it did not sign");
    }
    const statement = { kind: "report", provider, round, key, outcome, value, signature } as const;
    return outcome === "OK" ? statement : { ...statement, ...reasonIn(json) };
  };
}

/** Reads why a provider has no value: cut, and without characters that could steer a terminal. */
function reasonIn(json: unknown): Pick<ReportStatement, "reason"> | null {
  const notes = withNotes.Check(json) ? json.sources.filter(({ reason }) => reason !== null) : [];
  const reasons = notes.map(({ name, reason }) => `${name}: ${reason}`).join("; ");
  return reasons === "" ? null : { reason: reasons.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON) };
}

/** Makes the reader of the row that was asked for, signed by the provider. */
function rowReader(
  { digests }: Dataset,
  keys: readonly Hex[],
  round: bigint,
  expected: BatchReportRequest,
): Read<RowStatement> {
  const digestOf = digests.ofRows(keys);
  return (json, provider, fail) => {
    if (!signedRow.Check(json)) return fail("invalid_report", "answered with something other than a row of a batch");
    const isComplete = json.values.length === keys.length;
    const difference = firstDifference(json, { ...expected, provider }) ?? (isComplete ? null : "number of keys");
    if (difference !== null) return fail("other_report", answeredForOther(difference, json));
    // The signature is checked over the keys that were asked for, whatever keys the answer repeats.
    const row = { keys, round, missing: hexToBigInt(json.missing as Hex), values: json.values as Hex[] };
    const signature = json.signature as Hex;
    if (recoverSignerSync(digestOf(row), signature) !== provider) {
      return fail("wrong_signer", "sent a row that it did not sign");
    }
    return { kind: "row", provider, ...row, signature };
  };
}

/** The fields that a report and a row share, each with its name for people. */
const SHARED_FIELDS = [
  ["network_id", "network"],
  ["dataset", "dataset"],
  ["timestamp", "round"],
  ["provider", "provider"],
] as const;
type SharedFields = Pick<SignedReport, (typeof SHARED_FIELDS)[number][0]>;

/** Names the first of the shared fields in which an answer differs from what was asked for. */
function firstDifference(answer: SharedFields, expected: SharedFields): string | null {
  return SHARED_FIELDS.find(([field]) => answer[field] !== expected[field])?.[1] ?? null;
}

const answeredForOther = (difference: string, { provider }: SharedFields) =>
  difference === "provider"
    ? `signs as ${provider}: the operator's owner must correct \`providers\`, or the provider's owner its announcement`
    : `answered for a different ${difference} than the one requested`;
