import {
  createClient,
  custom,
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  numberToHex,
  RpcRequestError,
  stringToHex,
} from "viem";
import { expect, test } from "vitest";
import { webOracleRegistryAbi } from "../abi/web-oracle-registry.js";
import { readPublishedSpec } from "./read-published-spec.js";

const registry = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const spec = stringToHex('{"title":"A spec"}');
const specHash = keccak256(spec);
/** The block that the registry names, and in which the event is: contracts see the blocks of a longer chain. */
const NAMED = 1_000n;
const ACTUAL = 7n;

const event = {
  address: registry,
  blockNumber: numberToHex(ACTUAL),
  topics: encodeEventTopics({ abi: webOracleRegistryAbi, eventName: "SpecPublished", args: { specHash } }),
  data: encodeAbiParameters([{ type: "bytes" }], [spec]),
};

/** Returns a client of a node that answers requests for events in this way. */
function clientOf(logs: (fromBlock: string, toBlock: string) => object[], head = 10n) {
  const request = async ({ method, params }: { method: string; params: [{ fromBlock: string; toBlock: string }] }) => {
    if (method === "eth_call") return numberToHex(NAMED, { size: 32 });
    if (method === "eth_blockNumber") return numberToHex(head);
    if (method === "eth_getLogs") return logs(params[0].fromBlock, params[0].toBlock);
    throw new Error(method);
  };
  return createClient({ transport: custom({ request } as never, { retryCount: 0 }) });
}

function refuse(message: string): never {
  throw new RpcRequestError({ body: {}, error: { code: -32602, message }, url: "http://node.example" });
}

test.each<[name: string, beyondHead: () => object[]]>([
  ["finds nothing there", () => []],
  ["refuses to search there", () => refuse("block range extends beyond current head block")],
])("a spec is found although its block is beyond the head of a node that %s", async (_, beyondHead) => {
  const client = clientOf((from, to) => (from === "earliest" && to === "latest" ? [event] : beyondHead()));
  expect(await readPublishedSpec(client, { registry, specHash })).toBe(spec);
});

test("a node that refuses every search is an error that has its reason", async () => {
  const client = clientOf(() => refuse("too many blocks"));
  await expect(readPublishedSpec(client, { registry, specHash })).rejects.toThrow("too many blocks");
});
