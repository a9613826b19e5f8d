import { setTimeout as sleep } from "node:timers/promises";
import { CALLER, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { QUERY_PRICE } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { packUpdate, signedIn } from "@dataset-oracle/protocol/packed-update";
import { decodeUpdateCall, encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { type Address, encodeFunctionData, type Hex, numberToHex, stringToHex, zeroAddress } from "viem";
import { simulateBlocks } from "viem/actions";
import type { Attack } from "../attack.js";
import { priceKey } from "../network/network.js";

const FLIPS = 150;

export const alteredCalldata: Attack = {
  name: "altered-calldata",
  breach: "altered calldata makes a dataset return what nobody signed, or signed calldata works elsewhere or twice",
  isFast: true,
  async run(network, tally, random) {
    const { operator, prices, client } = network;
    const key = priceKey(3);
    const { json, text } = await network.update(operator, { key });
    if (json?.transaction === undefined) throw new Error(`There is no calldata: ${text}`);
    const { data } = json.transaction;
    await sleep(1_500);
    /** Returns what a query answers after the calldata was run; null if the dataset refuses the calldata. */
    const outcomeOf = async (calldata: Hex, to: Address = prices): Promise<Hex | null> => {
      const query = encodeFunctionData({ abi: datasetAbi, functionName: "query", args: [stringToHex(key)] });
      const account = CALLER.address;
      const calls = [
        { account, to, data: calldata },
        { account, to: prices, data: query, value: QUERY_PRICE },
      ];
      const [block] = await simulateBlocks(client, { blocks: [{ calls }] });
      const [update, answer] = block?.calls ?? [];
      return update?.status === "success" ? (answer?.data ?? null) : null;
    };
    const right = await outcomeOf(data);
    const before = await outcomeOf(encodeFunctionData({ abi: datasetAbi, functionName: "maxRoundAge" }));
    if (right === null || right === before) throw new Error("The calldata as it was signed is refused.");
    const attempt = async (name: string, calldata: Hex) => {
      tally.attempt();
      const outcome = await outcomeOf(calldata);
      if (outcome !== null && outcome !== right && outcome !== before) tally.breach(`${name}: ${calldata}`);
    };

    const bytes = Buffer.from(data.slice(2), "hex");
    for (let i = 0; i < FLIPS; i++) {
      const flipped = Buffer.from(bytes);
      const at = 4 + random.below(bytes.length - 4);
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << random.below(8)), at);
      await attempt(`a bit of byte ${at}`, `0x${flipped.toString("hex")}`);
    }
    for (let i = 0; i < 20; i++) {
      const end = 4 + random.below(bytes.length - 4);
      await attempt(`cut at ${end}`, `0x${bytes.subarray(0, end).toString("hex")}`);
    }

    const signed = decodeUpdateCall(data);
    if (signed?.kind !== "update") throw new Error("The calldata is no update of one key.");
    const { round, value, toleranceBps, members } = signed;
    const reports = signedIn(members);
    const first = reports[0];
    if (first === undefined) throw new Error("The calldata has no reports.");
    const addresses = PROVIDERS.map(({ address }) => address);
    const variants: Record<string, Partial<typeof signed>> = {
      "another key": { key: stringToHex(priceKey(4)) },
      "a later round": { round: round + 1n },
      "an earlier round": { round: round - 1n },
      "another value": { value: numberToHex(BigInt(value) + 1n, { size: 32 }) },
      "no value": { value: numberToHex(0, { size: 32 }) },
      "the smallest report": { value: reports.map((report) => report.value).toSorted()[0] ?? value },
      "a wider tolerance": { toleranceBps: toleranceBps + 1n },
      "no tolerance": { toleranceBps: 0n },
      "one member too few": { members: members.slice(1) },
      "one report many times": { value: first.value, members: members.map(() => first) },
      "reports in another order": { members: members.toReversed() },
      "two reports": { value: first.value, members: reports.slice(0, 2) },
      "two reports and absentees": { value: first.value, members: [...reports.slice(0, 2), ...addresses.slice(2)] },
      "no reports": { members: addresses },
      "one member too many": { members: [...members, zeroAddress] },
      "no data": { outcome: "NOT_AVAILABLE" },
    };
    for (const [name, altered] of Object.entries(variants)) {
      await attempt(name, encodeUpdateCall(packUpdate({ ...signed, ...altered })));
    }

    tally.attempt(2);
    if ((await outcomeOf(data, network.numbers)) !== null) tally.breach("another dataset accepts it");
    const gas = await client.estimateGas({ account: CALLER.address, to: prices, data });
    const stored = await client.sendTransaction({ account: CALLER.address, to: prices, data, gas });
    const { status } = await client.waitForTransactionReceipt({ hash: stored });
    if (status !== "success") throw new Error("The calldata as it was signed is refused.");
    const again = await outcomeOf(data);
    if (again !== null && again !== right) tally.breach("it changes something when it is sent a second time");
  },
};
