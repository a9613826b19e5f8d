/** A browser wallet, as EIP-1193 has it. */
export interface Eip1193Provider {
  request(asked: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** A wallet that somebody can choose. */
export interface Wallet {
  readonly id: string;
  readonly name: string;
  /** A data: URL; null where there is none. */
  readonly icon: string | null;
  readonly provider: Eip1193Provider;
}

/** A wallet that was refused by its owner says so with this. */
const REJECTED = 4001;
/** It does not know the chain. */
const UNKNOWN_CHAIN = 4902;

/** Why a wallet did not do what it was asked for. */
export type Refusal = "rejected" | "unknown_chain" | "failed";

export class WalletError extends Error {
  override readonly name = "WalletError";

  constructor(
    readonly refusal: Refusal,
    /** What the wallet said. */
    readonly said: string,
  ) {
    super(said);
  }
}

/**
 * Asks a wallet.
 *
 * @throws WalletError
 */
export async function ask<T>({ provider }: Wallet, method: string, params: readonly unknown[] = []): Promise<T> {
  try {
    return (await provider.request({ method, params })) as T;
  } catch (error) {
    const { code, message, data } = (error ?? {}) as { code?: unknown; message?: unknown; data?: unknown };
    // Some wallets wrap what another part of them said.
    const inner = (data as { originalError?: { code?: unknown } } | undefined)?.originalError?.code;
    const said = typeof message === "string" ? message : "no reason";
    if (code === REJECTED) throw new WalletError("rejected", said);
    throw new WalletError(code === UNKNOWN_CHAIN || inner === UNKNOWN_CHAIN ? "unknown_chain" : "failed", said);
  }
}
