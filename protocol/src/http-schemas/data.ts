/** The schemas of the operator's `GET /data`. */

import { type Static, Type } from "@sinclair/typebox";
import { Address, dataPointFields, NetworkId, Outcome, orNull, strict, Timestamp } from "./fields.js";
import { dataPointState, specVariables } from "./overview.js";

/** `GET /data`: the query. */
export const DataQuery = Type.Object(dataPointFields, strict);
export type DataQuery = Static<typeof DataQuery>;

const SignedPart = Type.Object(
  {
    provider: Address,
    outcome: Outcome,
    value: Type.String({ description: "In the form of the answer's `value`; zero when the outcome is NOT_AVAILABLE." }),
  },
  strict,
);

/** The transaction that stored a data point, as recorded on chain. */
export const LastUpdate = Type.Object(
  {
    transaction_hash: Type.String(),
    block_number: Type.Integer(),
    carrier: orNull(Address, "The sender of the transaction; null if the RPC no longer has it."),
    reports: orNull(
      Type.Array(SignedPart),
      "The signed reports, in committee order; null if the transaction does not contain them.",
    ),
    absentees: Type.Array(Address, { description: "The members without a report in the transaction." }),
    spread: orNull(
      Type.String(),
      "The highest signed value minus the lowest, as a decimal string; null for a majority dataset or without values.",
    ),
  },
  strict,
);
export type LastUpdate = Static<typeof LastUpdate>;

/** How far each provider agreed with what was stored lately. */
export const Agreement = Type.Object(
  {
    rounds: Type.Integer({
      description: "How many of the last rounds, at most 10, have a transaction from which their reports can be read.",
    }),
    providers: Type.Array(
      Type.Object(
        {
          provider: Address,
          signed: Type.Integer({ description: "How many of these rounds it signed." }),
          agreed: Type.Integer({
            description:
              "In how many of them it signed what was stored: for a median dataset, a value within the tolerance.",
          }),
        },
        strict,
      ),
      { description: "The whole committee, in committee order." },
    ),
  },
  strict,
);
export type Agreement = Static<typeof Agreement>;

const SentRound = Type.Object(
  {
    timestamp: Timestamp,
    transaction_hash: Type.String(),
    sender: orNull(Address, "The sender of the transaction; null if the RPC no longer has it."),
  },
  strict,
);

/** `GET /data`: the answer. */
export const DataPointAnswer = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    ...dataPointState,
    variables: orNull(specVariables, "Null if the key names no request spec that is known."),
    query_price: Type.String({ description: "The price of one query, in wei, as a decimal string." }),
    last_update: orNull(
      LastUpdate,
      "Null if there was none, or if it is older than the blocks that this operator searches.",
    ),
    agreement: orNull(Agreement, "Null if `last_update` is null."),
    last_rounds: Type.Array(SentRound, { description: "Who sent the last rounds, at most 10, the newest first." }),
  },
  strict,
);
export type DataPointAnswer = Static<typeof DataPointAnswer>;
