import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { type Outcome, signReport } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, numberToHex } from "viem";
import type { Provider } from "./stub-providers.js";

type Signer = Pick<Provider, "account" | "value">;

/**
 * Has providers sign their values, or that they have no data, and returns their reports and the call that stores them.
 */
export async function signedUpdate(
  dataset: Address,
  key: Hex,
  round: bigint,
  members: readonly Signer[],
  { signers = members, outcome = "OK" }: { signers?: readonly Signer[]; outcome?: Outcome } = {},
) {
  const reports = await Promise.all(
    signers.map(async ({ account, value: number }) => {
      const value = numberToHex(number, { size: 32 });
      const signature = await signReport(account, { chainId: 42, dataset, key, round, outcome, value });
      return { provider: account.address, value, signature };
    }),
  );
  const committee = { members: members.map(({ account }) => account.address), toleranceBps: 100n };
  return { data: encodeUpdate("median", { key, round }, committee, outcome, reports), reports };
}
