/** A browser wallet's EIP-1193 interface. */
export interface Eip1193Provider {
  request(asked: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** A browser wallet. */
export interface Wallet {
  readonly id: string;
  readonly name: string;
  /** A data: URL; null if there is none. */
  readonly icon: string | null;
  readonly provider: Eip1193Provider;
}

/** EIP-1193: the user rejected the request. */
const REJECTED = 4001;
/** EIP-3085: the wallet does not know the chain. */
const UNKNOWN_CHAIN = 4902;

/** The reasons why a wallet does not do what it is asked for. */
export type Refusal = "rejected" | "unknown_chain" | "failed";

export class WalletError extends Error {
  override readonly name = "WalletError";

  constructor(
    readonly refusal: Refusal,
    /** The wallet's message. */
    readonly said: string,
  ) {
    super(said);
  }
}

/**
 * Calls a method of a wallet.
 *
 * @throws WalletError
 */
export async function ask<T>({ provider }: Wallet, method: string, params: readonly unknown[] = []): Promise<T> {
  try {
    return (await provider.request({ method, params })) as T;
  } catch (error) {
    const { code, message, data } = (error ?? {}) as { code?: unknown; message?: unknown; data?: unknown };
    // Some wallets wrap the original error.
    const inner = (data as { originalError?: { code?: unknown } } | undefined)?.originalError?.code;
    const said = typeof message === "string" ? message : "no reason";
    if (code === REJECTED) throw new WalletError("rejected", said);
    throw new WalletError(code === UNKNOWN_CHAIN || inner === UNKNOWN_CHAIN ? "unknown_chain" : "failed", said);
  }
}
