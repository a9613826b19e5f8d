import type { Address } from "viem";
import { expect, test } from "vitest";
import { NodeList } from "./node-list.js";

const [OWN_PROVIDER, OTHER_PROVIDER, SENDER]: [Address, Address, Address] = [
  `0x${"aa".repeat(20)}`,
  `0x${"bb".repeat(20)}`,
  `0x${"cc".repeat(20)}`,
];

test("a member that announces another's submitter does not take the place of a node that is only configured", () => {
  const configured = { provider: OWN_PROVIDER, url: "https://own.example", submitter: SENDER };
  const nodes = new NodeList([configured], [SENDER], "network 42");
  nodes.setAnnouncements([
    { provider: OTHER_PROVIDER, url: "https://impostor.example", submitter: SENDER, issuedAt: 1n },
  ]);
  expect(nodes.all).toHaveLength(2);
  expect(nodes.own).toEqual(configured);
});
