import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { PROBLEM_CONTENT_TYPE } from "@dataset-oracle/protocol/http-schemas/problem";
import { stringToHex } from "viem";
import { afterAll, afterEach, expect, test } from "vitest";
import { startFakeExchanges } from "./support/fake-exchanges.js";
import { ACCOUNT, DATASET, DEPLOYMENTS, request, START, startProvider } from "./support/test-provider.js";

/** A dataset that lists prices although it takes a majority. */
const MAJORITY = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const deployments = DEPLOYMENTS.map(({ datasets, ...deployment }) => ({
  ...deployment,
  datasets: datasets.flatMap((dataset) => [dataset, { ...dataset, address: MAJORITY, kind: "majority" } as const]),
}));

const exchanges = await startFakeExchanges();
const provider = await startProvider({ redirectedOrigins: exchanges.redirectedOrigins }, { deployments });
afterAll(async () => {
  await provider.close();
  await exchanges.close();
});
// Nothing that is refused may cost a request to a source, or be signed.
afterEach(() => {
  expect(exchanges.requests).toEqual([]);
  expect(provider.logs.filter(({ msg }) => msg === "report signed")).toEqual([]);
});

const NOSUCH = { key: spotPriceKey("NOSUCH-USD") };
const SOL = { key: spotPriceKey("SOL-USD") };
const TOO_FEW = "is in the provider's deployment file, but too few of the provider's sources know it.";

test.each<[what: string, change: object, status: number, code: string, detail: string]>([
  ["a network", { network_id: 1 }, 422, "unknown_network", ""],
  ["a dataset", { dataset: ACCOUNT.address }, 404, "unknown_dataset", ""],
  ["a key that no source knows", NOSUCH, 422, "unknown_key", `SPOTPX/NOSUCH-USD ${TOO_FEW}`],
  ["a key that the dataset does not list", SOL, 422, "unknown_key", "SPOTPX/SOL-USD is not in the provider's deploy"],
  ["a price as a majority", { dataset: MAJORITY }, 422, "unknown_key", `SPOTPX/ETH-USD ${TOO_FEW}`],
  ["a key of another form", { key: stringToHex("SPOTPX/eth-usd") }, 422, "invalid_key", ""],
  ["a key of 256 bytes", { key: `0x${"41".repeat(256)}` }, 422, "invalid_key", ""],
  ["a round before the window", { timestamp: START + 994 }, 422, "round_too_old", ""],
  ["a round after the window", { timestamp: START + 1_003 }, 422, "round_in_future", ""],
  ["an address with a wrong checksum", { dataset: DATASET.replace("F", "f") }, 400, "invalid_address", ""],
])("%s is not served, and refused unsigned: %o is %d %s", async (_, change, status, code, part) => {
  const answer = await provider.ask(change);
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe(PROBLEM_CONTENT_TYPE);
  const detail = expect.stringContaining(part);
  expect(answer.body).toMatchObject({ title: expect.any(String), status, code, detail });
  if (code === "unknown_network") expect(answer.body.served).toEqual([42, 43]);
  expect(answer.text).not.toContain("signature");
});

const valid = request(1_800_001_000);

test.each<[what: string, body: object, property: string]>([
  ["an unknown property", { ...valid, broadcast: true }, "broadcast"],
  ["a network id as text", { ...valid, network_id: "42" }, "network_id"],
  ["a network id with a fraction", { ...valid, network_id: 42.5 }, "network_id"],
  ["a negative timestamp", { ...valid, timestamp: -1 }, "timestamp"],
  ["no timestamp", { ...valid, timestamp: undefined }, "timestamp"],
  ["a key in ASCII", { ...valid, key: "SPOTPX/ETH-USD" }, "key"],
  ["a key in upper case", { ...valid, key: "0x4A" }, "key"],
  ["a short address", { ...valid, dataset: "0x5F" }, "dataset"],
])("nothing in a body is coerced: %s is 400, and the property is named", async (_, sent, property) => {
  const { status, body } = await provider.post("/report", sent);
  expect({ status, ...body }).toMatchObject({ status: 400, code: "invalid_body" });
  expect(body.errors.map((error: { property: string }) => error.property)).toContain(property);
});
