import type { BatchReport } from "@dataset-oracle/protocol/batch-report";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import type { Report } from "@dataset-oracle/protocol/report";
import type { Address, Hex, TypedDataDefinition } from "viem";

/** What a provider said about one key at one round. */
interface SignedStatement {
  readonly key: Hex;
  readonly round: bigint;
  readonly isMissing: boolean;
  readonly value: Hex;
}

/** Everything that was ever signed, by whichever process, whether or not anybody got it. */
export class Ledger {
  readonly #contents = new Map<string, { readonly content: string; readonly by: string }>();
  readonly #rounds = new Map<Address, Set<bigint>>();
  readonly #bySignature = new Map<Hex, readonly string[]>();

  constructor(
    private readonly onContradiction: (id: string, detail: string) => void,
    private readonly onStatement: (statement: SignedStatement) => void,
  ) {}

  /** Notes what a process gives to its signer. */
  note(by: string, provider: Address, { domain, primaryType, message }: TypedDataDefinition, signature: Hex): void {
    const statements = primaryType === "Report" ? [statementOf(message)] : statementsOf(message);
    const signed: string[] = [];
    for (const statement of statements) {
      const { key, round, isMissing, value } = statement;
      const id = idOf(provider, domain?.verifyingContract as Address, key, round);
      const content = isMissing ? "nothing" : value;
      const known = this.#contents.get(id);
      if (known === undefined) {
        this.#contents.set(id, { content, by });
        this.onStatement(statement);
      } else if (known.content !== content)
        this.onContradiction(
          `${known.by} ${by}`,
          `${id}: ${known.by} signed ${known.content}, and ${by} signs ${content}`,
        );
      signed.push(`${id} ${content}`);
      const rounds = this.#rounds.get(provider) ?? new Set();
      this.#rounds.set(provider, rounds.add(round));
    }
    this.#bySignature.set(signature, signed);
  }

  /** Tells whether a signature was given for exactly these contents. */
  hasSigned(signature: Hex, contents: readonly string[]): boolean {
    return this.#bySignature.get(signature)?.join() === contents.join();
  }

  hasRound(provider: Address, round: bigint): boolean {
    return this.#rounds.get(provider)?.has(round) === true;
  }

  get size(): number {
    return this.#contents.size;
  }
}

export const idOf = (provider: Address, dataset: Address, key: Hex, round: bigint) =>
  `${provider} ${dataset} ${key} ${round}`;

/** The message of a report as `signReport` makes it. */
function statementOf(message: object): SignedStatement {
  const { key, outcome, value, timestamp } = message as Pick<Report, "key" | "value"> & {
    readonly outcome: number;
    readonly timestamp: bigint;
  };
  return { key, round: timestamp, isMissing: QUERY_STATUSES[outcome] !== "OK", value };
}

/** The message of a row as `signBatchReport` makes it. */
function statementsOf(message: object): SignedStatement[] {
  const { keys, missing, values, timestamp } = message as BatchReport & { readonly timestamp: bigint };
  return keys.map((key, i) => ({
    ...{ key, round: timestamp },
    ...{ isMissing: ((missing >> BigInt(i)) & 1n) === 1n, value: values[i] as Hex },
  }));
}
