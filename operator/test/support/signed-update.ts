import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { signReport } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, numberToHex } from "viem";
import type { Provider } from "./providers.js";

type Signer = Pick<Provider, "address" | "account" | "value">;

/** Has providers sign their values, and returns their reports and the call that stores them. */
export async function signedUpdate(
  dataset: Address,
  key: Hex,
  round: bigint,
  members: readonly Signer[],
  signers = members,
) {
  const reports = await Promise.all(
    signers.map(async ({ address: provider, account, value: number }) => {
      const value = numberToHex(number, { size: 32 });
      const report = { chainId: 42, dataset, key, round, outcome: "OK", value } as const;
      return { provider, value, signature: await signReport(account, report) };
    }),
  );
  const committee = { members: members.map(({ address }) => address), toleranceBps: 100n };
  return { data: encodeUpdate("median", { key, round }, committee, "OK", reports), reports };
}
