import type { Outcome } from "@dataset-oracle/protocol/report";
import type { Address, Hex } from "viem";

/** One step of a request, as an event stream shows it. */
export type ProgressEvent =
  | { readonly event: "asked"; readonly data: { readonly timestamp: number; readonly providers: readonly Address[] } }
  | {
      readonly event: "report";
      readonly data: {
        readonly provider: Address;
        readonly outcome: Outcome;
        readonly received: number;
        readonly of: number;
      };
    }
  | { readonly event: "signed" | "sent"; readonly data: { readonly transaction_hash: Hex } }
  | { readonly event: "mined"; readonly data: { readonly transaction_hash: Hex; readonly block_number: number } };

export type ProgressListener = (event: ProgressEvent) => void;

/** The steps of one piece of work. Whoever follows late is told what happened before. */
export class Progress {
  readonly #events: ProgressEvent[] = [];
  readonly #listeners = new Set<ProgressListener>();

  emit(event: ProgressEvent): void {
    this.#events.push(event);
    for (const listener of this.#listeners) listener(event);
  }

  /** @returns What ends the following. */
  follow(listener: ProgressListener): () => void {
    for (const event of this.#events) listener(event);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
