import type { LocalAccount } from "viem";

/** Signing accounts in the order of the configuration, and warnings about how their keys are kept. */
export interface LoadedAccounts {
  readonly accounts: readonly LocalAccount[];
  readonly warnings: readonly string[];
  /**
   * Asks a signer outside this process whether it has the accounts.
   *
   * @throws ConfigError when it does not have one. Another error when it does not answer.
   */
  readonly check?: () => Promise<void>;
}

/** A source of accounts with viem's `LocalAccount` interface. */
export interface AccountSource {
  /** The environment variables that configure it, the main one first. */
  readonly variables: readonly string[];
  /** The variables that hold a secret. They are removed, so that no child process or crash report gets them. */
  readonly secrets: readonly string[];
  /**
   * @param closing Ends what the accounts ask of a signer outside the process.
   * @throws ConfigError that repeats no variable's value: it may be the key, set by mistake.
   */
  load(env: NodeJS.ProcessEnv, closing: AbortSignal): Promise<LoadedAccounts>;
}
