import { type Address, numberToHex, stringToHex } from "viem";
import { expect, test } from "vitest";
import { rankNodesForRequest } from "./rank-nodes-for-request.js";

const address = (number: number): Address => numberToHex(number, { size: 20 });
const nodes = [1, 2, 3].map((i) => ({
  provider: address(i),
  url: `https://node${i}.example`,
  submitter: address(10 + i),
}));

test("turns change each minute, and every node has about as many", () => {
  const committee = { current: { members: nodes.map(({ provider }) => provider) } };
  const dataPoint = { dataset: { address: address(99), committee }, key: stringToHex("SPOTPX/ETH-USD") } as never;
  const firstOf = (minute: number) => rankNodesForRequest({ all: nodes }, dataPoint, minute * 60_000)[0];
  const firsts = Array.from({ length: 90 }, (_, minute) => firstOf(minute));
  for (const node of nodes) expect(firsts.filter((first) => first === node).length).toBeGreaterThan(15);
});
