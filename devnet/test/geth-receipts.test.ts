import { deployTestDataset } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { GETH_ACCOUNT, GETH_CHAIN_ID, isGethCompiled, startGeth } from "@dataset-oracle/devnet/test-support/geth";
import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { signReport } from "@dataset-oracle/protocol/report";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { createWalletClient, http, numberToHex, parseEther, publicActions, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, onTestFinished, test } from "vitest";

// `npm run geth` compiles geth.
describe.skipIf(!isGethCompiled())("geth under the rules of Amsterdam", () => {
  test("charges an update what its simulation says, with which `npm run gas:amsterdam` measures", async () => {
    const geth = await startGeth({ rules: "amsterdam" });
    onTestFinished(() => geth.close());
    const transport = http(geth.url, { retryCount: 0 });
    const client = createWalletClient({ account: GETH_ACCOUNT, transport, pollingInterval: 100 }).extend(publicActions);
    const accounts = Array.from({ length: 4 }, () => privateKeyToAccount(generatePrivateKey())).toSorted((a, b) =>
      BigInt(a.address) < BigInt(b.address) ? -1 : 1,
    );
    const members = accounts.map(({ address }) => address);
    const dataset = await deployTestDataset(geth.url, { owner: GETH_ACCOUNT, members });
    const { timestamp } = await client.getBlock();

    const [simulated, charged]: [bigint[], bigint[]] = [[], []];
    for (const round of [timestamp - 1n, timestamp]) {
      const header = { chainId: GETH_CHAIN_ID, dataset, key: stringToHex("SPOTPX/ETH-USD"), round };
      const reports = accounts.map(async (account, i) => {
        const value = numberToHex(parseEther("3000") + BigInt(i), { size: 32 });
        const signature = await signReport(account, { ...header, outcome: "OK", value });
        return { provider: account.address, value, signature };
      });
      const committee = { members, toleranceBps: 100n };
      const data = encodeUpdateCall(encodeUpdate("median", header, committee, "OK", await Promise.all(reports)));
      const call = { to: dataset, data } as const;
      const [block] = await client.simulateBlocks({ blocks: [{ calls: [{ ...call, account: GETH_ACCOUNT }] }] });
      simulated.push(block?.calls[0]?.gasUsed as bigint);
      const hash = await client.sendTransaction({ ...call, chain: null });
      const { status, gasUsed } = await client.waitForTransactionReceipt({ hash });
      expect(status).toBe("success");
      charged.push(gasUsed);
    }
    expect(charged).toEqual(simulated);
    // The first update creates a slot, and the second does not.
    expect((charged[0] as bigint) - (charged[1] as bigint)).toBeGreaterThan(64n * 1_530n - 10_000n);
  });
});
