import { stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { startCommittee } from "./support/committee.js";
import { startOperator } from "./support/operator.js";

const KEY = "SPOTPX/ETH-USD";
const body = (more: object = {}) => ({ network_id: 42, dataset, key: KEY, broadcast: false, ...more });

const { chain, providers, dataset } = await startCommittee(1);
const operator = await startOperator([{ chain, datasets: [dataset], providers }], { basePath: "/oracle" });

describe("a body that is not valid", () => {
  test.each([
    ["network_id", { network_id: "42" }],
    ["network_id", { network_id: 42.5 }],
    ["network_id", { network_id: 0 }],
    ["network_id", { network_id: -42 }],
    ["network_id", { network_id: 2 ** 53 }],
    ["network_id", { network_id: undefined }],
    ["network_id", { network_id: null }],
    ["dataset", { dataset: undefined }],
    ["dataset", { dataset: 42 }],
    ["dataset", { dataset: "0x1234" }],
    ["dataset", { dataset: "ETH" }],
    ["key", { key: undefined }],
    ["key", { key: 7 }],
    ["key", { key: "" }],
    ["key", { key: "0x" }],
    ["key", { key: "0x5" }],
    ["key", { key: "0x535" }],
    ["key", { key: "0X53" }],
    ["key", { key: "0xzz" }],
    ["key", { key: "SPOTPX/É" }],
    ["key", { key: "K".repeat(257) }],
    ["key", { key: `0x${"4b".repeat(257)}` }],
    ["broadcast", { broadcast: "true" }],
    ["broadcast", { broadcast: 1 }],
    ["broadcast", { broadcast: undefined }],
    ["extra", { extra: 1 }],
    ["networkId", { networkId: 42 }],
    ["a/b", { "a/b": 42 }],
  ])("is a 400 that names %s: %j", async (property, change) => {
    const problem = await operator.askForProblem(body(change));
    expect(problem.http).toBe(400);
    expect(problem.code).toBe("invalid_body");
    expect(problem.errors).toEqual([{ property, problem: expect.any(String) }]);
    expect(problem.detail).toMatch(new RegExp(`^${property}:? `));
  });

  test.each([["[]"], ["null"], ['"text"'], ["{"], [""], ["42"]])("is a 400: %s", async (text) => {
    const problem = await operator.askForProblem(text);
    expect(problem.http).toBe(400);
  });

  test("names the right spelling of a property that is spelt otherwise", async () => {
    const { network_id: networkId, ...others } = body();
    const problem = await operator.askForProblem({ networkId, ...others });
    expect(problem.errors).toContainEqual({
      property: "networkId",
      problem: "is unknown; the right name is network_id",
    });
    expect(problem.detail).toContain("network_id is missing.");
  });

  test("has exactly four required properties, and the problem names every wrong one once", async () => {
    const problem = await operator.askForProblem({ network_id: "42", broadcast: "true", more: 1 });
    const named = problem.errors?.map(({ property }) => property);
    expect(named?.toSorted()).toEqual(["broadcast", "dataset", "key", "more", "network_id"]);
  });
});

describe("an address", () => {
  test("with a wrong checksum is a 400 with a hint", async () => {
    const [first, ...rest] = dataset.slice(2).split(/(?<=[a-fA-F])/);
    const swap = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
    const wrong = `0x${[...(first ?? "")].map(swap).join("")}${rest.join("")}`;
    const problem = await operator.askForProblem(body({ dataset: wrong }));
    expect(problem.http).toBe(400);
    expect(problem.detail).toContain(dataset.toLowerCase());
  });

  test("in lower or upper case is answered with its checksum", async () => {
    const upper = `0x${dataset.slice(2).toUpperCase()}`;
    for (const address of [dataset.toLowerCase(), upper]) {
      expect((await operator.ask(body({ dataset: address }))).dataset).toBe(dataset);
    }
  });
});

describe("a request for", () => {
  test("an unserved network is a 422 with the served ids", async () => {
    const problem = await operator.askForProblem(body({ network_id: 43 }));
    expect([problem.http, problem.code]).toEqual([422, "unknown_network"]);
    expect(problem.served_network_ids).toEqual([42]);
  });

  test("the largest network id is a 422 too", async () => {
    expect((await operator.askForProblem(body({ network_id: 2 ** 53 - 1 }))).http).toBe(422);
  });

  test("an unserved dataset is a 404", async () => {
    const problem = await operator.askForProblem(body({ dataset: `0x${"11".repeat(20)}` }));
    expect([problem.http, problem.code]).toEqual([404, "unknown_dataset"]);
  });

  test.each([["SPOTPX/ETH-usd"], ["K"], ["K".repeat(256)], [`0x${"4B".repeat(256)}`], ["WEB/1"], [" SPOTPX/ETH-USD"]])(
    "a key of another form is a 422, and asks nobody: %s",
    async (key) => {
      const asked = providers[0]?.asked.length;
      const problem = await operator.askForProblem(body({ key }));
      expect([problem.http, problem.code]).toEqual([422, "invalid_key"]);
      expect(providers[0]?.asked.length).toBe(asked);
    },
  );
});

test("an operator without a sender account serves only broadcast: false", async () => {
  const keyless = await startOperator([{ chain, datasets: [dataset], providers }], { hasSender: false });
  const problem = await keyless.askForProblem(body({ broadcast: true }));
  expect([problem.http, problem.code]).toEqual([422, "broadcast_unavailable"]);
  expect(await keyless.ask(body())).toHaveProperty("transaction");
  await keyless.close();
});

test("a wait that is not a number is a 400, whether it would be waited or not", async () => {
  const asked = providers[0]?.asked.length;
  for (const broadcast of [true, false]) {
    const problem = await operator.askForProblem(body({ broadcast }), { prefer: "wait=abc" });
    expect([problem.http, problem.code]).toEqual([400, "bad_request"]);
    expect(problem.detail).toBe("prefer: wait must be a whole number of seconds, as in wait=10.");
  }
  expect(providers[0]?.asked.length).toBe(asked);
});

test("the answer has the key in both forms, whichever the caller sent", async () => {
  const answer = await operator.ask(body({ key: stringToHex(KEY) }));
  expect(answer).toMatchObject({ key: KEY, key_hex: stringToHex(KEY), network_id: 42 });
});
