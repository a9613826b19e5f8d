import type { Address } from "viem";
import { type Failure, type FailureReason, isFailure } from "../update/ask-provider.js";

/** The providers whose last answers could not be used. */
export class ProviderFailures {
  readonly #reasons = new Map<Address, FailureReason>();

  /** Takes note of an answer. One that came after the others were enough says nothing about the provider. */
  record(provider: Address, answer: { readonly kind: string } | Failure): void {
    if (!isFailure(answer) || answer.refuses !== null) this.#reasons.delete(provider);
    else if (answer.reason !== "late") this.#reasons.set(provider, answer.reason);
  }

  /** Returns why a provider's last answer could not be used; null if it could, or if none was asked for. */
  reasonOf(provider: Address): FailureReason | null {
    return this.#reasons.get(provider) ?? null;
  }
}
