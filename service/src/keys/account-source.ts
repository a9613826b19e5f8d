import type { LocalAccount } from "viem";

/** Signing accounts in the order of the configuration, and warnings about how their keys are kept. */
export interface LoadedAccounts {
  readonly accounts: readonly LocalAccount[];
  readonly warnings: readonly string[];
}

/**
 * A source of accounts. To support a key-management service, add one that returns accounts with viem's `LocalAccount`
 * interface to `sourcesFor`.
 */
export interface AccountSource {
  /** The environment variables that configure it, the main one first. */
  readonly variables: readonly string[];
  /** The variables that hold a secret. They are removed, so that no child process or crash report gets them. */
  readonly secrets: readonly string[];
  /**
   * @throws ConfigError that repeats no variable's value: it may be the key, set by mistake.
   */
  load(env: NodeJS.ProcessEnv): Promise<LoadedAccounts>;
}
