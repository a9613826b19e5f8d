import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee-hash";
import { pino } from "pino";
import { type Address, encodeAbiParameters, encodeEventTopics, encodeFunctionData, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { CommitteeCache } from "./committee.js";
import { DatasetUnreadable } from "./contract.js";

const DATASET: Address = "0x0000000000000000000000000000000000000da7";
const MEMBERS: readonly Address[] = ["0x000000000000000000000000000000000000aaaa"];
const HINT = 100n;

/** The log of a committee of these members, in a block. */
function logOf(members: readonly Address[], block: bigint) {
  return {
    address: DATASET,
    topics: encodeEventTopics({ abi: datasetAbi, eventName: "CommitteeChanged" }),
    data: encodeAbiParameters([{ type: "address[]" }, { type: "uint256" }], [members, 5n]),
    blockNumber: numberToHex(block),
    blockHash: numberToHex(block, { size: 32 }),
    transactionHash: numberToHex(block, { size: 32 }),
    transactionIndex: "0x0",
    logIndex: "0x0",
    removed: false,
  };
}

/** Answers as a node of a chain on which contracts see `HINT` as the block of the last change of the committee. */
function startNode(logs: readonly ReturnType<typeof logOf>[], head = 10_000n) {
  const searched: [string, string][] = [];
  const selector = (functionName: "committeeHash" | "committeeBlock") =>
    encodeFunctionData({ abi: datasetAbi, functionName });
  const node = { logs, hash: committeeHash({ members: MEMBERS, toleranceBps: 5n }) };
  const request = async (method: string, params: unknown) => {
    const [first] = params as [{ data: Hex; fromBlock: string; toBlock: string }];
    if (method === "eth_call") {
      return first.data === selector("committeeHash") ? node.hash : numberToHex(HINT, { size: 32 });
    }
    if (method === "eth_blockNumber") return numberToHex(head);
    searched.push([first.fromBlock, first.toBlock]);
    return node.logs.filter(({ blockNumber }) => first.fromBlock === "earliest" || blockNumber === first.fromBlock);
  };
  /** Has the dataset store another committee, and the node other logs. */
  const install = (committee: Committee, changed: typeof logs) =>
    Object.assign(node, { logs: changed, hash: committeeHash(committee) });
  return { client: createChainClient(42161, { request }), searched, install };
}

const log = pino({ level: "silent" });
const load = (client: ReturnType<typeof startNode>["client"], known: Committee | null = null) =>
  CommitteeCache.load({ client, address: DATASET }, log, known);
/** The members, as the tests write them. */
const membersIn = ({ current }: CommitteeCache) => current.members.map((member) => member.toLowerCase());

const OTHERS: readonly Address[] = ["0x000000000000000000000000000000000000bbbb"];
const SECOND: Address = "0x000000000000000000000000000000000000cccc";
const AT_HINT = ["0x64", "0x64"];
const EVERYWHERE = ["earliest", "latest"];

test.each([
  ["in the block that the dataset names", [logOf(MEMBERS, HINT)], undefined, [AT_HINT]],
  [
    "by its hash in the whole chain, where contracts see the blocks of another one",
    [logOf(OTHERS, 5_000n), logOf(MEMBERS, 6_000n)],
    undefined,
    [AT_HINT, EVERYWHERE],
  ],
  [
    "there at once, where that block is beyond the head, because nodes refuse it",
    [logOf(MEMBERS, 7n)],
    HINT - 1n,
    [EVERYWHERE],
  ],
])("the committee is found %s", async (_, logs, head, expected) => {
  const { client, searched } = startNode(logs, head);
  expect(membersIn(await load(client))).toEqual(MEMBERS);
  expect(searched).toEqual(expected);
});

test("without an event and a list of it, the error names the settings that can have it", async () => {
  const { client } = startNode([]);
  const reason = expect.stringMatching(
    /in block 100 or any other\. Set deployment to a file that lists its members and toleranceBps, or use an RPC/,
  );
  const loaded = load(client, { members: OTHERS, toleranceBps: 5n });
  await expect(loaded).rejects.toMatchObject({ kind: "failed", reason });
});

test.each([
  ["a list that is known", MEMBERS],
  ["a list that is known without one member, which an accusation has ejected", [...MEMBERS, SECOND]],
])("%s needs no event", async (_, members) => {
  const { client, searched } = startNode([]);
  const { current } = await load(client, { members, toleranceBps: 5n });
  expect(current).toMatchObject({ members: MEMBERS, toleranceBps: 5n });
  expect(searched).toEqual([]);
});

test("a list that this process has found before needs no event", async () => {
  const node = startNode([logOf(MEMBERS, HINT)]);
  const cache = await load(node.client);
  const first = cache.current;
  node.install({ members: OTHERS, toleranceBps: 5n }, [logOf(OTHERS, HINT)]);
  expect(await cache.refreshIfReplaced(first)).toBe(true);
  expect(membersIn(cache)).toEqual(OTHERS);
  node.install({ members: MEMBERS, toleranceBps: 5n }, []);
  expect(await cache.refreshIfReplaced(cache.current)).toBe(true);
  expect(cache.current).toEqual(first);
});

test("every endpoint is asked for the event, because some have pruned it", async () => {
  const { client } = startNode([]);
  const asked = { ...client, requestEach: async () => [[], [logOf(MEMBERS, HINT)]] };
  expect(membersIn(await load(asked))).toEqual(MEMBERS);
});

const manyMembers = (count: number) => Array.from({ length: count }, (_, i) => numberToHex(i + 1, { size: 20 }));

test.each([
  ["names more members than a committee can have", manyMembers(256), [manyMembers(256)]],
  ["comes before more events than are decoded", MEMBERS, [MEMBERS, ...Array.from({ length: 16 }, () => OTHERS)]],
  ["lists one member more, which only a known list may", MEMBERS, [[...MEMBERS, SECOND]]],
])("an event is not used that %s", async (_, members, events) => {
  const node = startNode([]);
  const changed = events.map((listed) => logOf(listed, HINT));
  node.install({ members, toleranceBps: 5n }, changed);
  await expect(load(node.client)).rejects.toThrow(DatasetUnreadable);
});

test("an event is used that lists as many members as a committee can have", async () => {
  const node = startNode([]);
  node.install({ members: manyMembers(255), toleranceBps: 5n }, [logOf(manyMembers(255), HINT)]);
  expect((await load(node.client)).current.members).toHaveLength(255);
});
