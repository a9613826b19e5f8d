import { signBatchReport } from "@dataset-oracle/protocol/batch-report";
import { encodeUpdate, encodeUpdateBatch } from "@dataset-oracle/protocol/encode-update";
import { type Outcome, signReport, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, numberToHex } from "viem";
import type { StubProvider } from "./stub-providers.js";

type Signer = Pick<StubProvider, "account" | "value">;

/**
 * Has providers sign their values, or that they have no data, and packs the update that stores their reports.
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
      const value = outcome === "OK" ? numberToHex(number, { size: 32 }) : ZERO_VALUE;
      const signature = await signReport(account, { chainId: 42, dataset, key, round, outcome, value });
      return { provider: account.address, value, signature };
    }),
  );
  return encodeUpdate("median", { key, round }, committeeOf(members), outcome, reports);
}

/** Has providers sign their values of several keys, which are the same, and packs the batch of their rows. */
export async function signedBatch(dataset: Address, keys: readonly Hex[], round: bigint, members: readonly Signer[]) {
  const rows = await Promise.all(
    members.map(async ({ account, value }) => {
      const row = { missing: 0n, values: keys.map(() => numberToHex(value, { size: 32 })) };
      const signature = await signBatchReport(account, { chainId: 42, dataset, keys, round, ...row });
      return { provider: account.address, ...row, signature };
    }),
  );
  return encodeUpdateBatch("median", { keys, round }, committeeOf(members), rows);
}

const committeeOf = (members: readonly Signer[]) => ({
  members: members.map(({ account }) => account.address),
  toleranceBps: 100n,
});
