import type { Address } from "viem";
import { type Failure, type FailureReason, isFailure } from "./ask-provider.js";

/** Remembers which providers' last answers could not be used, and why. */
export class ProviderHealth {
  readonly #failing = new Map<Address, FailureReason>();

  /** Takes note of an answer. One that came after the others were enough says nothing about the provider. */
  answered(provider: Address, answer: { readonly kind: string } | Failure): void {
    if (!isFailure(answer) || answer.refusesQuestion) this.#failing.delete(provider);
    else if (answer.reason !== "late") this.#failing.set(provider, answer.reason);
  }

  /** Returns why a provider's last answer could not be used; null if it could, or if none was asked for. */
  reasonOf(provider: Address): FailureReason | null {
    return this.#failing.get(provider) ?? null;
  }
}
