import { setTimeout as sleep } from "node:timers/promises";
import { CALLER, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { QUERY_PRICE } from "@dataset-oracle/devnet/deploy-test-contracts";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { decodeFunctionData, encodeFunctionData, numberToHex, stringToHex } from "viem";
import { PRICE_KEYS } from "../network/network.js";

const FLIPS = 150;

export const alteredCalldata = {
  name: "altered-calldata",
  breach: "altered calldata makes a dataset return what nobody signed, or signed calldata works elsewhere or twice",
  isFast: true,
  async run(network, tally, random) {
    const { operator, prices, client } = network;
    const key = PRICE_KEYS[3];
    const { json, text } = await network.update(operator, { key });
    if (json?.transaction === undefined) throw new Error(`There is no calldata: ${text}`);
    const { data } = json.transaction;
    await sleep(1_500);
    /** Returns what a query answers after the calldata was run; null if the dataset refuses the calldata. */
    const outcomeOf = async (calldata, to = prices) => {
      const query = encodeFunctionData({ abi: datasetAbi, functionName: "query", args: [stringToHex(key)] });
      const calls = [
        { from: CALLER.address, to, data: calldata },
        { from: CALLER.address, to: prices, data: query, value: numberToHex(QUERY_PRICE) },
      ];
      const params = [{ blockStateCalls: [{ calls }] }, "latest"];
      const [{ calls: done }] = await client.request({ method: "eth_simulateV1", params });
      return done[0].status === "0x1" ? done[1].returnData : null;
    };
    const right = await outcomeOf(data);
    const before = await outcomeOf(encodeFunctionData({ abi: datasetAbi, functionName: "maxRoundAge" }));
    if (right === null || right === before) throw new Error("The calldata as it was signed is refused.");
    const attempt = async (name, calldata) => {
      tally.attempt();
      const outcome = await outcomeOf(calldata);
      if (outcome !== null && outcome !== right && outcome !== before) tally.breach(`${name}: ${calldata}`);
    };

    const bytes = Buffer.from(data.slice(2), "hex");
    for (let i = 0; i < FLIPS; i++) {
      const flipped = Buffer.from(bytes);
      const at = 4 + random.below(bytes.length - 4);
      flipped[at] ^= 1 << random.below(8);
      await attempt(`a bit of byte ${at}`, `0x${flipped.toString("hex")}`);
    }
    for (let i = 0; i < 20; i++) {
      const end = 4 + random.below(bytes.length - 4);
      await attempt(`cut at ${end}`, `0x${bytes.subarray(0, end).toString("hex")}`);
    }

    const { functionName, args } = decodeFunctionData({ abi: datasetAbi, data });
    const [signedKey, round, value, signers, reports, absentees, tolerance] = args;
    const signed = { key: signedKey, round, value, signers, reports, absentees, tolerance };
    const [{ content }] = reports;
    const addresses = PROVIDERS.map(({ address }) => address);
    const variants = {
      "another key": { key: stringToHex(PRICE_KEYS[4]) },
      "a later round": { round: round + 1n },
      "an earlier round": { round: round - 1n },
      "another value": { value: numberToHex(BigInt(value) + 1n, { size: 32 }) },
      "no value": { value: numberToHex(0, { size: 32 }) },
      "the smallest report": { value: reports.map(({ content }) => content).toSorted()[0] },
      "a wider tolerance": { tolerance: tolerance + 1n },
      "no tolerance": { tolerance: 0n },
      "one report too few": { reports: reports.slice(1) },
      "one report many times": { value: content, reports: reports.map(() => reports[0]) },
      "reports in another order": { reports: reports.toReversed() },
      "two reports": { value: content, signers: 3n, reports: reports.slice(0, 2) },
      "two reports and absentees": {
        value: content,
        signers: 3n,
        reports: reports.slice(0, 2),
        absentees: addresses.slice(2),
      },
      "no reports": { signers: 0n, reports: [], absentees: addresses },
      "a signer outside the committee": { signers: 2n ** 255n },
    };
    for (const [name, altered] of Object.entries(variants)) {
      await attempt(
        name,
        encodeFunctionData({ abi: datasetAbi, functionName, args: Object.values({ ...signed, ...altered }) }),
      );
    }

    tally.attempt(2);
    if ((await outcomeOf(data, network.numbers)) !== null) tally.breach("another dataset accepts it");
    const stored = await client.sendTransaction({ account: CALLER.address, to: prices, data, gas: 1_000_000n });
    const { status } = await client.waitForTransactionReceipt({ hash: stored });
    if (status !== "success") throw new Error("The calldata as it was signed is refused.");
    const again = await outcomeOf(data);
    if (again !== null && again !== right) tally.breach("it changes something when it is sent a second time");
  },
};
