import { type Address, formatGwei } from "viem";
import type { FeeExcess } from "./fees.js";

/** Which gas budget pays: for keys that are stored, for keys that are stored for the first time, or for the operator's own. */
export type BudgetName = "stored" | "new" | "feeds";

/** What keeps an operator from sending. */
export type SendingFault =
  /** It has no account on the network. */
  | { readonly kind: "no_sender" }
  /** `payer`: the caller whose share of the budget is spent; null if the whole budget is. */
  | {
      readonly kind: "gas_spent";
      readonly budget: BudgetName;
      readonly payer: string | null;
      readonly retryAfterSeconds: number;
    }
  /** The update got no nonce in time. */
  | { readonly kind: "queue_full" }
  | { readonly kind: "out_of_funds"; readonly sender: Address }
  /** `reason`: what the signer outside this process answered. */
  | { readonly kind: "signer_failed"; readonly sender: Address; readonly reason: string }
  /** The chain or its nodes ask for more than a setting allows. */
  | { readonly kind: "fees_too_high"; readonly excess: FeeExcess }
  | { readonly kind: "shutting_down" };

/** Nothing was sent, for a reason that is not the update's. */
export class NotSent extends Error {
  override readonly name = "NotSent";

  constructor(
    readonly chainId: number,
    readonly fault: SendingFault,
  ) {
    super(describe(fault));
  }
}

/** Reports whether nothing was sent for one of these reasons. */
export function isNotSent(error: unknown, ...kinds: readonly SendingFault["kind"][]): error is NotSent {
  return error instanceof NotSent && kinds.includes(error.fault.kind);
}

function describe(fault: SendingFault): string {
  if (fault.kind === "signer_failed") return `the signer did not sign: ${fault.reason}`;
  if (fault.kind === "fees_too_high")
    return `nodes ask for more than the ${fault.excess.setting} of ${formatGwei(fault.excess.cap)}`;
  return fault.kind.replaceAll("_", " ");
}
