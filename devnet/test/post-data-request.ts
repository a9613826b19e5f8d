import type { Address, Hash } from "viem";

/** An answer of the operator, read as far as the tests look at it. */
interface DataRequestAnswer {
  readonly status: string;
  readonly value: string;
  readonly timestamp: number;
  readonly transaction_hash?: Hash;
  readonly transaction?: {
    readonly chainId: string;
    readonly to: Address;
    readonly data: string;
    readonly gas: string;
  };
  readonly reports: readonly unknown[];
  readonly code?: string;
  readonly detail?: string;
}

/** Posts a data request; waits for the transaction to be mined where there is one. */
export async function postDataRequest(
  { operator }: { readonly operator: { readonly url: string } },
  body: object,
): Promise<{ status: number; answer: DataRequestAnswer }> {
  const response = await fetch(`${operator.url}/data/request`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=20" },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: (await response.json()) as DataRequestAnswer };
}
