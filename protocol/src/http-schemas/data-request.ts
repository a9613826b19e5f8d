/** The schemas of `POST /data/request`. */

import { type Static, Type } from "@sinclair/typebox";
import { Address, dataPointFields, NetworkId, orNull, Signature, storedFields, strict } from "./fields.js";

/** `POST /data/request`: the body. */
export const DataRequest = Type.Object(
  {
    ...dataPointFields,
    broadcast: Type.Boolean({
      description: "If true, the operator sends the update transaction; otherwise it returns it.",
    }),
  },
  strict,
);
export type DataRequest = Static<typeof DataRequest>;

/** One provider's report, as it appears in the answer to a data request. */
export const AnsweredReport = Type.Object(
  {
    provider: Address,
    value: Type.String({ description: "In the form of the answer's `value`." }),
    signature: Signature,
    reason: Type.Optional(
      Type.String({ description: "Why the provider has no value, in its own words, which are not signed." }),
    ),
  },
  strict,
);

/**
 * An update transaction for the caller to send. It can be passed to `eth_sendTransaction` unchanged. It sends no Ether, and
 * has no `value` to say so: viem's local accounts would encode "0x0" as a byte, which nodes other than anvil refuse.
 */
export const UnsentTransaction = Type.Object(
  {
    chainId: Type.String(),
    to: Address,
    data: Type.String(),
    gas: Type.String({ description: "The gas limit." }),
    gasLimit: Type.String({ description: "Equal to `gas`, under the name that ethers reads." }),
  },
  { ...strict, description: "The transaction for `eth_sendTransaction`, with its quantities in hex." },
);
export type UnsentTransaction = Static<typeof UnsentTransaction>;

/**
 * The same transaction for libraries. An RPC node wants its quantities in hex, while wagmi compares `chainId` with a
 * number, so no single object fits both.
 */
export const TransactionRequest = Type.Object(
  {
    chainId: NetworkId,
    to: Address,
    data: Type.String(),
    gas: Type.Integer({ description: "The gas limit." }),
    gasLimit: Type.Integer({ description: "Equal to `gas`, under the name that ethers reads." }),
  },
  {
    ...strict,
    description: "The same transaction for `sendTransaction` of ethers, viem, wagmi and web3.js, with numbers.",
  },
);
export type TransactionRequest = Static<typeof TransactionRequest>;

/**
 * `POST /data/request`: the answer. It has a `transaction_hash` if it was broadcast, otherwise an `update`, a
 * `transaction` and a `transaction_request`.
 */
export const DataAnswer = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    ...storedFields,
    reports: Type.Array(AnsweredReport),
    transaction_hash: Type.Optional(orNull(Type.String())),
    fresh: Type.Optional(
      Type.Literal(true, {
        description:
          "The stored value is recent, so nothing was sent. `transaction_hash` is the transaction that stored it; null if " +
          "the RPC does not show it.",
      }),
    ),
    update: Type.Optional(
      Type.String({
        description: "The packed update in hex, for a contract that takes one. `transaction` hands it to the dataset.",
      }),
    ),
    transaction: Type.Optional(UnsentTransaction),
    transaction_request: Type.Optional(TransactionRequest),
  },
  strict,
);
export type DataAnswer = Static<typeof DataAnswer>;
