import { isDeepStrictEqual } from "node:util";
import {
  type Address,
  type Hex,
  isAddressEqual,
  isHex,
  type LocalAccount,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
} from "viem";
import { toAccount } from "viem/accounts";

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
  /** What the main variable is set to, after "to". */
  readonly value: string;
  /** What else `--help` says about its variables: sentences. */
  readonly help: string;
  /** True if its accounts sign nothing else. */
  readonly signsOnlyTransactions?: true;
  /**
   * @param closing Ends what the accounts ask of a signer outside the process.
   * @throws ConfigError that repeats no variable's value: it may be the key, set by mistake.
   */
  load(env: NodeJS.ProcessEnv, closing: AbortSignal): Promise<LoadedAccounts>;
}

/**
 * Makes an account whose key is in a signer outside this process. It signs nothing but transactions, and returns only what
 * is exactly the transaction that the signer was given, signed as the account.
 *
 * @param sign Asks the signer for the signed transaction, or an object with it as `raw`.
 */
export function accountOfSigner(
  address: Address,
  sign: (transaction: TransactionSerializable) => Promise<unknown>,
): LocalAccount {
  const refuse = async (): Promise<never> => {
    throw new Error("An account of a remote signer signs only transactions.");
  };
  return toAccount({
    address,
    signMessage: refuse,
    signTypedData: refuse,
    signTransaction: async (transaction) => requireSigned(await sign(transaction), transaction, address),
  });
}

/** @throws Error that names what differs. */
async function requireSigned(result: unknown, transaction: TransactionSerializable, address: Address): Promise<Hex> {
  const raw = typeof result === "object" && result !== null && "raw" in result ? result.raw : result;
  const asked = parseTransaction(serializeTransaction(transaction));
  const signed = await decode(raw);
  if (signed === null || !isHex(raw)) throw new Error("eth_signTransaction: answered no signed transaction");
  const differences = Object.keys({ ...asked, ...signed.content }).filter(
    (name) => !isDeepStrictEqual(asked[name as keyof typeof asked], signed.content[name]),
  );
  if (differences.length > 0) {
    throw new Error(`eth_signTransaction: signed another transaction: ${differences.join(", ")} differ`);
  }
  if (!isAddressEqual(signed.signer, address)) {
    throw new Error(`eth_signTransaction: signed as ${signed.signer}, not as ${address}`);
  }
  return raw;
}

/** Returns what was signed, and by whom; null for something else than a signed transaction. */
async function decode(raw: unknown) {
  try {
    const serializedTransaction = raw as TransactionSerialized;
    const { r, s, v, yParity, ...content } = parseTransaction(serializedTransaction) as Record<string, unknown>;
    return { content, signer: await recoverTransactionAddress({ serializedTransaction }) };
  } catch {
    return null;
  }
}
