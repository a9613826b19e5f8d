import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { PROBLEM_CONTENT_TYPE } from "@dataset-oracle/protocol/http-schemas/problem";
import { stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type FakeExchanges, startFakeExchanges } from "./support/fake-exchanges.js";
import { ACCOUNT, DATASET, DEPLOYMENTS, request, startProvider, type TestProvider } from "./support/test-provider.js";

/** A dataset that lists prices although it takes a majority. */
const MAJORITY = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const deployments = DEPLOYMENTS.map(({ datasets, ...deployment }) => ({
  ...deployment,
  datasets: datasets.flatMap((dataset) => [dataset, { ...dataset, address: MAJORITY, kind: "majority" } as const]),
}));

let exchanges: FakeExchanges;
let provider: TestProvider;
beforeAll(async () => {
  exchanges = await startFakeExchanges();
  exchanges.quote("1", "1", "1");
  provider = await startProvider({ redirectedOrigins: exchanges.redirectedOrigins }, { deployments });
});
afterAll(async () => {
  await provider.close();
  await exchanges.close();
});
// Nothing that is refused may cost a request to a source, or be signed.
afterEach(() => {
  expect(exchanges.requests).toEqual([]);
  expect(provider.logs.filter(({ msg }) => msg === "report signed")).toEqual([]);
});

describe("what is not served is refused unsigned", () => {
  const cases: [what: string, change: object, status: number, code: string][] = [
    ["a network", { network_id: 1 }, 422, "unknown_network"],
    ["a dataset", { dataset: ACCOUNT.address }, 404, "unknown_dataset"],
    ["a key of the form that no source knows", { key: spotPriceKey("NOSUCH-USD") }, 422, "unknown_key"],
    ["a key that the sources know and the dataset does not", { key: spotPriceKey("SOL-USD") }, 422, "unknown_key"],
    ["a key of another form", { key: stringToHex("SPOTPX/eth-usd") }, 422, "invalid_key"],
    ["a key of one byte", { key: "0x00" }, 422, "invalid_key"],
    ["a key of 256 bytes", { key: `0x${"41".repeat(256)}` }, 422, "invalid_key"],
    ["an address with a wrong checksum", { dataset: DATASET.replace("F", "f") }, 400, "invalid_address"],
  ];
  for (const [what, change, status, code] of cases) {
    it(`${what}: ${status} ${code}`, async () => {
      const answer = await provider.ask(change);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("content-type")).toBe(PROBLEM_CONTENT_TYPE);
      expect(answer.body).toMatchObject({ title: expect.any(String), status, code, detail: expect.any(String) });
      expect(answer.text).not.toContain("signature");
    });
  }

  const reasons: [what: string, change: object, detail: string][] = [
    [
      "has too few sources",
      { key: spotPriceKey("NOSUCH-USD") },
      "SPOTPX/NOSUCH-USD is in the provider's deployment file, but too few of the provider's sources know it.",
    ],
    [
      "is not listed",
      { key: spotPriceKey("SOL-USD") },
      "SPOTPX/SOL-USD is not in the provider's deployment file. Use another key,",
    ],
    [
      "is a price in a dataset that takes a majority",
      { dataset: MAJORITY },
      "SPOTPX/ETH-USD is in the provider's deployment file, but too few of the provider's sources know it.",
    ],
  ];
  it.each(reasons)("a key that %s: the detail names the key and says so", async (_, change, detail) => {
    expect((await provider.ask(change)).body.detail).toContain(detail);
  });

  it("a network's refusal names those that are served", async () => {
    expect((await provider.ask({ network_id: 1 })).body.served).toEqual([42, 43]);
  });
});

describe("a body is taken as it is, and nothing in it is coerced", () => {
  const valid = request(1_800_001_000);
  const cases: [what: string, body: object, property: string][] = [
    ["an unknown property", { ...valid, broadcast: true }, "broadcast"],
    ["a network id as text", { ...valid, network_id: "42" }, "network_id"],
    ["a network id with a fraction", { ...valid, network_id: 42.5 }, "network_id"],
    ["a network id of 0", { ...valid, network_id: 0 }, "network_id"],
    ["a timestamp as text", { ...valid, timestamp: "1800001000" }, "timestamp"],
    ["a negative timestamp", { ...valid, timestamp: -1 }, "timestamp"],
    ["no timestamp", { ...valid, timestamp: undefined }, "timestamp"],
    ["a key in ASCII", { ...valid, key: "SPOTPX/ETH-USD" }, "key"],
    ["a key of an odd number of digits", { ...valid, key: "0x535" }, "key"],
    ["a key with a letter that is no digit", { ...valid, key: "0x5g" }, "key"],
    ["a key in upper case", { ...valid, key: "0x4A" }, "key"],
    ["a key after 0X", { ...valid, key: "0X53" }, "key"],
    ["an empty key", { ...valid, key: "0x" }, "key"],
    ["a key of 257 bytes", { ...valid, key: `0x${"41".repeat(257)}` }, "key"],
    ["a short address", { ...valid, dataset: "0x5F" }, "dataset"],
    ["a list", [valid], "the body"],
  ];
  for (const [what, body, property] of cases) {
    it(`${what}: 400, and the property is named`, async () => {
      const response = await provider.post(JSON.stringify(body));
      const problem = (await response.json()) as { code: string; errors: { property: string }[] };
      expect(response.status).toBe(400);
      expect(problem.code).toBe("invalid_body");
      expect(problem.errors.map((error) => error.property)).toContain(property);
    });
  }

  it("more than 16 KiB: 413 body_too_large, as in every service", async () => {
    const response = await provider.post(JSON.stringify({ ...valid, key: "x".repeat(16_384) }));
    expect(response.status).toBe(413);
    expect(response.headers.get("content-type")).toBe(PROBLEM_CONTENT_TYPE);
    expect(await response.json()).toMatchObject({ status: 413, code: "body_too_large" });
  });
});
