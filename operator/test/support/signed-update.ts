import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { signReport } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, numberToHex } from "viem";
import type { Provider } from "./providers.js";

/** Has providers sign their value, or another, and returns the call that stores it. */
export async function signedUpdate(
  dataset: Address,
  key: Hex,
  round: bigint,
  members: readonly Provider[],
  signers = members,
): Promise<Hex> {
  const reports = await Promise.all(
    signers.map(async ({ address: provider, account, value: number }) => {
      const value = numberToHex(number, { size: 32 });
      const report = { chainId: 42, dataset, key, round, outcome: "OK", value } as const;
      return { provider, value, signature: await signReport(account, report) };
    }),
  );
  const committee = { members: members.map(({ address }) => address), toleranceBps: 100n };
  return encodeUpdate("median", { key, round }, committee, "OK", reports);
}
