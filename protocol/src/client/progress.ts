import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const Transaction = { transaction_hash: Type.String() };

/** What an operator's event stream shows of a request. */
const EVENTS = {
  asked: Type.Object({ timestamp: Type.Integer(), providers: Type.Array(Type.String()) }),
  report: Type.Object({
    provider: Type.String(),
    outcome: Type.Union([Type.Literal("OK"), Type.Literal("NOT_AVAILABLE")]),
    received: Type.Integer(),
    of: Type.Integer(),
  }),
  signed: Type.Object(Transaction),
  sent: Type.Object(Transaction),
  mined: Type.Object({ ...Transaction, block_number: Type.Integer() }),
};

/**
 * One step of a request. `asked`: the providers are asked for reports of the round `timestamp`, in seconds since 1970.
 * `report`: one of them answered, the `received`th `of` all. `signed`, `sent` and `mined`: the operator's transaction,
 * with `broadcast: true` alone.
 */
export type UpdateProgress = {
  [Name in keyof typeof EVENTS]: { event: Name } & Static<(typeof EVENTS)[Name]>;
}[keyof typeof EVENTS];

/** @returns Null for an event that this client does not know. */
export function parseProgress(event: string, data: unknown): UpdateProgress | null {
  if (!Object.hasOwn(EVENTS, event)) return null;
  const schema = EVENTS[event as keyof typeof EVENTS];
  return Value.Check(schema, data) ? ({ event, ...data } as UpdateProgress) : null;
}
