import type { Trace } from "@dataset-oracle/service/http-server/trace";

/** The caller for whom a key is found and its value is read. */
export interface ReportCaller {
  /** The caller's address or network. */
  readonly id: string;
  /** True if the caller may use the reserved part of rate limits and allowances. */
  readonly mayUseReserve: boolean;
}

/** A caller whose request can be followed in the log. */
export interface TracedCaller extends ReportCaller {
  /** Ties the log lines of one request together. */
  readonly trace: Trace | null;
}

/** Limits how many keys a caller asks for. */
export interface KeyBudget {
  /**
   * Charges a caller for keys, before anything is done for them and whatever becomes of them.
   *
   * @throws ProblemError when the caller has asked for too many.
   */
  charge(caller: ReportCaller, keys: number): void;
}
