import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Address, type Hash, type Hex, hexToBigInt, isAddressEqual, numberToHex } from "viem";
import { parseKey } from "../dataset-key.js";
import type { SignedValue } from "../encode-update.js";
import { AnsweredReport, DataAnswer, UnsentTransaction } from "../http-schemas/data-request.js";
import { BYTES32, orNull } from "../http-schemas/fields.js";
import { unpackUpdate } from "../packed-update.js";
import { encodeUpdateCall } from "../update-call.js";
import { unexpectedAnswer } from "./data-request-error.js";
import { type QueryResult, queryResult } from "./query-result.js";

/** The data point as it is stored, or will be once the transaction is mined. */
interface Update extends QueryResult {
  /** The chain id of the dataset's network. */
  readonly networkId: number;
  /** With its EIP-55 checksum. */
  readonly dataset: Address;
  /** The key's bytes as lower-case hex. */
  readonly key: Hex;
  /**
   * The signed values. Empty if another relayer or an earlier request stored the round. The `reason`, why a provider has
   * no value, is not signed.
   */
  readonly reports: readonly (SignedValue & { readonly reason?: string })[];
}

/** The answer with `broadcast: true`. */
export interface BroadcastUpdate extends Update {
  /** The transaction that stores the value; null if it is another relayer's and could not be found. */
  readonly transactionHash: Hash | null;
  /**
   * True if nothing was sent, because the stored value was recent enough for the operator's `minUpdateAgeSeconds`. False
   * after an update, however new the value is: `updatedAt` has its time.
   */
  readonly fresh: boolean;
}

/** The answer with `broadcast: false`. */
export interface UnsentUpdate extends Update {
  /** The packed update: the argument of a contract that updates and reads. */
  readonly update: Hex;
  /** The transaction that stores the value once it is mined. */
  readonly transaction: UpdateTransaction;
}

/** A transaction for viem's `sendTransaction`. It stores this update and does nothing else. */
export interface UpdateTransaction {
  readonly chainId: number;
  /** The dataset. */
  readonly to: Address;
  readonly data: Hex;
  readonly value: 0n;
  /** The gas limit. */
  readonly gas: bigint;
}

/** A decimal string of at most 208 bits, or 32 bytes. */
const AnsweredValue = Type.String({ pattern: "^(?:\\d{1,63}|0x[0-9a-f]{64})$" });
const TransactionHash = Type.String({ pattern: BYTES32 });
const Bytes = Type.String({ pattern: "^0x(?:[0-9a-f]{2})+$" });

/** Other members are ignored, because an operator may be newer than this client, or older. */
const Answer = Type.Object({
  ...Type.Omit(DataAnswer, ["transaction_request"]).properties,
  value: AnsweredValue,
  reports: Type.Array(Type.Object({ ...AnsweredReport.properties, value: AnsweredValue })),
  transaction_hash: Type.Optional(orNull(TransactionHash)),
  update: Type.Optional(Bytes),
  transaction: Type.Optional(
    Type.Object({
      ...Type.Omit(UnsentTransaction, ["gasLimit"]).properties,
      data: Bytes,
      gas: Type.String({ pattern: "^0x[0-9a-f]{1,16}$" }),
    }),
  ),
});

/** The part of a request that its answer is checked against. */
interface RequestedUpdate {
  readonly networkId: number;
  readonly dataset: Address;
  /** In ASCII, or in hex after `0x`. */
  readonly key: string;
  readonly broadcast: boolean;
}

/**
 * Reads an operator's answer to a request.
 *
 * @throws `DataRequestError` unless it is about the requested data point, and its transaction stores what it says and
 *   does nothing else.
 */
export function toUpdate(
  { networkId, dataset, key, broadcast }: RequestedUpdate,
  httpStatus: number,
  answer: unknown,
): BroadcastUpdate | UnsentUpdate {
  if (!Value.Check(Answer, answer)) throw unexpectedAnswer(httpStatus, "has an unexpected form");
  const requested = parseKey(key);
  const isRequested =
    answer.network_id === networkId &&
    isAddressEqual(answer.dataset as Address, dataset) &&
    requested.ok &&
    answer.key_hex === requested.value;
  if (!isRequested) throw unexpectedAnswer(httpStatus, "is about a different data point than the requested one");
  const update: Update = {
    networkId,
    dataset: answer.dataset as Address,
    key: requested.value,
    ...queryResult(answer.status, BigInt(answer.value), BigInt(answer.timestamp)),
    reports: answer.reports.map(({ provider, value, signature, reason }) => ({
      provider: provider as Address,
      value: numberToHex(BigInt(value), { size: 32 }),
      signature: signature as Hex,
      ...(reason !== undefined && { reason }),
    })),
  };
  const { update: packed, transaction, transaction_hash: transactionHash, fresh = false } = answer;
  if (broadcast && transactionHash !== undefined) {
    return { ...update, transactionHash: transactionHash as Hash | null, fresh };
  }
  if (!broadcast && packed !== undefined && transaction !== undefined && stores(packed as Hex, transaction, update)) {
    const { data, gas } = transaction;
    return {
      ...update,
      update: packed as Hex,
      transaction: {
        chainId: networkId,
        to: update.dataset,
        data: data as Hex,
        value: 0n,
        gas: hexToBigInt(gas as Hex),
      },
    };
  }
  throw unexpectedAnswer(httpStatus, `has no ${broadcast ? "transaction hash" : "transaction that stores it"}`);
}

/**
 * Returns true if a packed update stores what the answer says, and a transaction hands it to the dataset and does nothing
 * else, so that its signer need not trust the operator.
 */
function stores(
  packed: Hex,
  { chainId, to, data }: Omit<UnsentTransaction, "gasLimit">,
  { networkId, dataset, key, status, output, updatedAt }: Update,
): boolean {
  if (Number(chainId) !== networkId || !isAddressEqual(to as Address, dataset)) return false;
  const unpacked = unpackUpdate(packed);
  if (!unpacked.ok || data !== encodeUpdateCall(packed)) return false;
  const content = unpacked.value;
  if (content.kind !== "update" || content.key !== key || content.round !== updatedAt) return false;
  return status === "OK"
    ? content.outcome === "OK" && content.value === output
    : BigInt(output) === 0n && (status === "NOT_AVAILABLE") === (content.outcome === "NOT_AVAILABLE");
}
