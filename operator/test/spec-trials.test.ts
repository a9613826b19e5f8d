import type { SpecTrial, SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { type Address, type Hex, hexToString } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OWNER } from "./support/chain.js";
import {
  ARGS,
  type OperatorWithTrials,
  problem,
  SPEC,
  startOperatorWithTrials,
  trialOf,
} from "./support/operator-with-trials.js";
import type { Provider } from "./support/stub-providers.js";

let providers: Provider[];
let prices: Address;
let post: OperatorWithTrials["post"];

beforeAll(async () => {
  ({ providers, prices, post } = await startOperatorWithTrials());
});
beforeEach(() => {
  for (const provider of providers) provider.trial = null;
});

async function tryOut(change: object = {}) {
  const response = await post("/specs/try", change);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe("POST /specs/try", () => {
  test("passes on the trial of the first provider that offers trials, or of the one that is named", async () => {
    const [, second, , fourth] = providers as [Provider, Provider, Provider, Provider];
    for (const each of [second, fourth]) each.trial = (_, body) => trialOf(each, body as SpecTrialRequest);
    const { status, body } = await tryOut();
    expect(status).toBe(200);
    expect([second.address, fourth.address]).toContain(body.provider);
    expect(hexToString(body.spec_bytes as Hex)).toBe(JSON.stringify(SPEC));
    for (const each of [second, fourth]) {
      const named = await tryOut({ provider: each.address.toLowerCase() });
      expect(named).toEqual({ status: 200, body: trialOf(each, { spec: SPEC, arguments: ARGS }) });
    }
    expect(await tryOut({ provider: providers[0]?.address })).toMatchObject({
      status: 404,
      body: { code: "trials_off" },
    });
  });

  test("asks another provider when one fails, and says why when none is left", async () => {
    for (const each of providers) each.trial = problem(422, "host_not_allowed");
    const last = providers[3] as Provider;
    last.trial = (_, body) => trialOf(last, body as SpecTrialRequest);
    expect((await tryOut()).body.provider).toBe(last.address);
    last.trial = problem(422, "host_not_allowed");
    expect(await tryOut()).toMatchObject({ status: 422, body: { code: "host_not_allowed" } });
    for (const each of providers) each.trial = problem(503, "trials_busy");
    expect(await tryOut()).toMatchObject({ status: 503, body: { code: "trials_busy" } });
    for (const each of providers) each.trial = problem(500, "internal_error");
    expect(await tryOut()).toMatchObject({ status: 502, body: { code: "trial_failed" } });
    for (const each of providers) each.trial = null;
    expect(await tryOut()).toMatchObject({ status: 404, body: { code: "trials_off" } });
  });

  test("passes on what is wrong with a spec, and asks no other provider", async () => {
    const errors = [{ property: "/sources", problem: "is missing" }];
    let asked = 0;
    for (const each of providers) {
      each.trial = () => {
        asked += 1;
        return problem(422, "invalid_spec", { errors })();
      };
    }
    expect(await tryOut()).toMatchObject({ status: 422, body: { code: "invalid_spec", errors } });
    expect(asked).toBe(1);
    for (const each of providers) each.trial = problem(422, "invalid_arguments", { detail: "One is missing." });
    expect(await tryOut()).toMatchObject({
      status: 422,
      body: { code: "invalid_arguments", detail: "One is missing." },
    });
  });

  test.each<[string, (trial: SpecTrial) => unknown]>([
    ["another spec's bytes", (trial) => ({ ...trial, spec_bytes: "0x7b7d" })],
    [
      "another spec",
      ({ provider }) => trialOf({ address: provider } as Provider, { spec: { a: "spec" }, arguments: ARGS }),
    ],
    ["another key", (trial) => ({ ...trial, key: "WEB/0" })],
    ["another provider", (trial) => ({ ...trial, provider: OWNER })],
    ["more than a trial", (trial) => ({ ...trial, script: "alert(1)" })],
    ["a text that is too long", (trial) => ({ ...trial, key: "x".repeat(1_000) })],
    ["something else", () => "<html>"],
  ])("passes on nothing of a provider that answers with %s", async (_, change) => {
    const [provider] = providers as [Provider];
    provider.trial = (_path, body) => change(trialOf(provider, body as SpecTrialRequest));
    const { status, body } = await tryOut({ provider: provider.address });
    expect([status, body.code]).toEqual([502, "trial_failed"]);
    expect(JSON.stringify(body)).not.toContain("alert");
  });

  test.each<[string, object, number, string]>([
    ["a dataset of prices", { dataset: () => prices }, 400, "invalid_body"],
    ["another network", { network_id: 7 }, 422, "unknown_network"],
    ["another dataset", { dataset: OWNER }, 404, "unknown_dataset"],
    ["a provider that is a URL", { provider: "http://127.0.0.1:1" }, 400, "invalid_body"],
    ["a provider of no committee", { provider: OWNER }, 404, "unknown_provider"],
    ["arguments that are not texts", { arguments: [1] }, 400, "invalid_body"],
  ])("refuses %s without asking anyone", async (_, change, status, code) => {
    for (const each of providers) each.trial = () => expect.unreachable();
    const entries = Object.entries(change).map(([name, value]) => [
      name,
      typeof value === "function" ? value() : value,
    ]);
    const answer = await tryOut(Object.fromEntries(entries));
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});
