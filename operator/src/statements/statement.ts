import { parseAddress } from "@dataset-oracle/protocol/address";
import { isMissing } from "@dataset-oracle/protocol/batch-report";
import type { SignedRow, SignedValue } from "@dataset-oracle/protocol/encode-update";
import type { SignedStatement } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import { type Outcome, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import { type Address, type Hex, hexToBigInt, numberToHex } from "viem";
import type { Dataset, Network } from "../network.js";

/** A provider's signed statement about one key at a round. */
export interface ReportStatement extends SignedValue {
  readonly kind: "report";
  /** In seconds since 1970. */
  readonly round: bigint;
  readonly key: Hex;
  readonly outcome: Outcome;
}

/** A provider's signed statement about several keys at a round: a row of a batch. */
export interface RowStatement extends SignedRow {
  readonly kind: "row";
  /** In seconds since 1970. */
  readonly round: bigint;
  readonly keys: readonly Hex[];
}

/** A signed report or row. Its signature has been checked. */
export type Statement = ReportStatement | RowStatement;

/** Lists the keys that a statement is about. */
export function keysOf(statement: Statement): readonly Hex[] {
  return statement.kind === "report" ? [statement.key] : statement.keys;
}

/**
 * Returns what a statement says about one of its keys: a value, or that there is none. Two that differ contradict each
 * other.
 */
export function contentOf(statement: Statement, key: Hex): Hex | "NOT_AVAILABLE" {
  if (statement.kind === "report") return statement.outcome === "OK" ? statement.value : "NOT_AVAILABLE";
  const index = statement.keys.indexOf(key);
  return isMissing(statement, index) ? "NOT_AVAILABLE" : (statement.values[index] ?? "NOT_AVAILABLE");
}

/**
 * Reads a statement that a committee member of a served dataset has signed.
 *
 * @returns The statement and its dataset, or the reason why it is not one.
 */
export function readStatement(
  { chainId, datasets }: Pick<Network, "chainId" | "datasets">,
  json: SignedStatement,
): Result<{ readonly dataset: Dataset; readonly statement: Statement }> {
  const address = parseAddress(json.dataset);
  const dataset = json.network_id === chainId && address.ok ? datasets.get(address.value) : undefined;
  if (dataset === undefined) return err(`${json.dataset} on network ${json.network_id} is not a dataset served here.`);
  const provider = json.provider as Address;
  if (!dataset.committee.current.members.includes(provider)) {
    return err(`${provider} is not a member of the dataset's committee.`);
  }
  const signature = json.signature as Hex;
  const round = BigInt(json.timestamp);
  if ("outcome" in json) {
    const [key, value, outcome] = [json.key as Hex, json.value as Hex, json.outcome];
    if (outcome === "NOT_AVAILABLE" ? value !== ZERO_VALUE : hexToBigInt(value) > dataset.maxValue) {
      return err(`The dataset cannot store ${value}.`);
    }
    if (recoverSigner(dataset.digests.of({ key, round })(outcome, value), signature) !== provider) {
      return err(`${provider} did not sign it.`);
    }
    return ok({ dataset, statement: { kind: "report", provider, round, key, outcome, value, signature } });
  }
  const [keys, values, missing] = [json.keys as Hex[], json.values as Hex[], hexToBigInt(json.missing as Hex)];
  if (values.length !== keys.length) return err(`It has ${values.length} values for ${keys.length} keys.`);
  if (recoverSigner(dataset.digests.ofRow({ keys, round, missing, values }), signature) !== provider) {
    return err(`${provider} did not sign it.`);
  }
  return ok({ dataset, statement: { kind: "row", provider, round, keys, missing, values, signature } });
}

/** Writes a statement in the form of a provider's answer. */
export function writeStatement(chainId: number, dataset: Address, statement: Statement): SignedStatement {
  const { provider, round, signature } = statement;
  const about = { network_id: chainId, dataset, timestamp: Number(round), provider, signature };
  if (statement.kind === "report") {
    const { key, outcome, value } = statement;
    return { ...about, key, outcome, value };
  }
  const { keys, missing, values } = statement;
  return { ...about, keys: [...keys], missing: numberToHex(missing, { size: 32 }), values: [...values] };
}
