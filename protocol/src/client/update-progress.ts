import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { BYTES32, Outcome } from "../http-schemas/fields.js";

const Transaction = { transaction_hash: Type.String({ pattern: BYTES32 }) };

/** The events in an operator's stream. */
const EVENTS = {
  asked: Type.Object({ timestamp: Type.Integer(), providers: Type.Array(Type.String()) }),
  report: Type.Object({
    provider: Type.String(),
    outcome: Outcome,
    received: Type.Integer(),
    of: Type.Integer(),
  }),
  signed: Type.Object(Transaction),
  sent: Type.Object(Transaction),
  mined: Type.Object({ ...Transaction, block_number: Type.Integer() }),
};

/**
 * One step of a request. `asked`: the providers are being asked for reports of the round `timestamp`, in seconds since
 * 1970. `report`: one more has answered, so that `received` reports of `of` providers have arrived. `signed`, `sent`
 * and `mined` are about the operator's transaction and come only with `broadcast: true`.
 */
export type UpdateProgress = {
  [Name in keyof typeof EVENTS]: { event: Name } & Static<(typeof EVENTS)[Name]>;
}[keyof typeof EVENTS];

/** Parses an event. Returns null if this client does not know it. */
export function parseProgress(event: string, data: unknown): UpdateProgress | null {
  if (!Object.hasOwn(EVENTS, event)) return null;
  const schema = EVENTS[event as keyof typeof EVENTS];
  return Value.Check(schema, data) ? ({ event, ...data } as UpdateProgress) : null;
}
