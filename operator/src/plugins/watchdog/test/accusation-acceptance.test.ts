import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { signBatchReport } from "@dataset-oracle/protocol/batch-report";
import { encodeAccusation } from "@dataset-oracle/protocol/encode-accusation";
import { signReport } from "@dataset-oracle/protocol/report";
import { type Hex, numberToHex, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, it } from "vitest";
import { type Chain, OTHER_ACCOUNT, startChain } from "../../../../test/support/chain.js";

const providers = ["11", "22", "33", "44", "55"]
  .map((byte) => privateKeyToAccount(`0x${byte.repeat(32)}`))
  .toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1));
const members = providers.map(({ address }) => address);
const [accused] = providers as [(typeof providers)[0]];
const keys = ["SPOTPX/BTC-USD", "SPOTPX/ETH-USD"].map((key) => stringToHex(key)) as [Hex, Hex];

let chain: Chain;
beforeAll(async () => {
  chain = await startChain();
});

it("a report and a row that contradict each other, in the calldata of encodeAccusation, eject their signer", async () => {
  const dataset = await chain.deploy(members);
  const round = (await chain.client.getBlock()).timestamp + 1n;
  const about = { chainId: chain.chainId, dataset, round };
  const [one, two] = [numberToHex(1, { size: 32 }), numberToHex(2, { size: 32 })];
  const report = { ...about, key: keys[1], outcome: "OK", value: one } as const;
  const row = { ...about, keys, missing: 1n, values: [one, two] };
  const data = encodeAccusation(
    { key: keys[1], round },
    { ...report, signature: await signReport(accused, report) },
    { ...row, signature: await signBatchReport(accused, row) },
    { members, toleranceBps: 100n },
  );
  // An accusation stores the block number. In the block that set the committee that store changes nothing, so an
  // estimate made there is too low.
  await chain.wait(await chain.client.sendTransaction({ account: OTHER_ACCOUNT, to: dataset, data, gas: 150_000n }));
  const contract = { address: dataset, abi: datasetAbi } as const;
  const events = await chain.client.getContractEvents({ ...contract, fromBlock: 0n, strict: true });
  expect(events.slice(-2).map(({ eventName, args }) => ({ eventName, args }))).toEqual([
    { eventName: "CommitteeChanged", args: { members: members.slice(1), toleranceBps: 100n } },
    { eventName: "MemberEjected", args: { member: accused.address, accuser: OTHER_ACCOUNT, reward: 0n } },
  ]);
});
