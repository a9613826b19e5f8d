import type { SpecAdvice, SpecAdviceRequest } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import type { SpecTrial, SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { type Address, type Hex, hexToString, stringToHex } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Chain, OWNER, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/providers.js";

const SPEC = { a: "spec", b: [1, 2.5] };
const ARGS = ["São Paulo"];

let chain: Chain;
let providers: Provider[];
let operator: RunningOperator;
let dataset: Address;
let prices: Address;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  const members = providers.map(({ address }) => address);
  dataset = await chain.deploy(members, "WEB_ORACLE");
  prices = await chain.deploy(members);
  const web = { name: "web", address: dataset, kind: "median" as const, keyForm: "WEB_ORACLE" as const, keys: [] };
  operator = await startOperator([{ chain, datasets: [web, prices], providers }]);
});
beforeEach(() => {
  for (const provider of providers) provider.trial = null;
});

/** The trial of a spec as a provider answers it. Its JSON is canonical as it is written. */
function trialOf({ address }: Provider, { spec, arguments: args }: SpecTrialRequest, value = "7"): SpecTrial {
  const bytes = stringToHex(JSON.stringify(spec));
  const hash = specHash(bytes);
  const key = webOracleKey({ specHash: hash.ok ? hash.value : "0x", args });
  if (!hash.ok || !key.ok) throw new Error("This is no spec.");
  const url = "https://api.example.com/";
  return {
    provider: address,
    spec_hash: hash.value,
    spec_bytes: bytes,
    kind: "median",
    type: "uint",
    key: hexToString(key.value),
    key_hex: key.value,
    output: `0x${"00".repeat(31)}07`,
    sources: [
      {
        name: "/sources/0",
        fetched: { method: "GET", url, status: 200, bytes: 1, sha256: "00".repeat(32), ms: 1 },
        selected: { path: "$", text: value },
        scaled: { value, text: `${value} K` },
        error: null,
      },
    ],
    combined: { how: "median", min_sources: 1, with_value: 1, status: "OK", reason: null, value, text: `${value} K` },
  };
}

const ADVICE: SpecAdvice = {
  samples: 3,
  interval_seconds: 1,
  readings: 9,
  with_value: 9,
  character: "fixed number",
  steps: { count: 6, changed: 0, largest_bps: 0, median_bps: 0 },
  providers: [],
  agreement: { compared: 3, equal: 3, farthest_bps: 0 },
  source_agreement: { compared: 0, equal: 0, farthest_bps: 0 },
  combinations: { majority: 0, equal: 0 },
  tolerances: [],
  sources: [],
  conclusions: ["Fits: median."],
};

const post = (path: string, body: object, headers: Record<string, string> = {}, signal = AbortSignal.timeout(60_000)) =>
  fetch(operator.base + path, {
    method: "POST",
    signal,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ network_id: 42, dataset, spec: SPEC, arguments: ARGS, ...body }),
  });

async function tryOut(change: object = {}) {
  const response = await post("/specs/try", change);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const problem =
  (status: number, code: string, extras: object = {}) =>
  () => ({
    status,
    code,
    title: "No.",
    detail: "No.",
    ...extras,
  });

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
    const errors = [{ property: "/sources", problem: "Expected required property" }];
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

describe("POST /specs/advise", () => {
  /** Lets providers answer trials with rising values, and keeps what they are asked to compute advice from. */
  function offer(offering: readonly Provider[]): SpecAdviceRequest[] {
    const computed: SpecAdviceRequest[] = [];
    for (const each of offering) {
      let value = 0;
      each.trial = (path, body) => {
        if (path === "/specs/try") return trialOf(each, body as SpecTrialRequest, String(++value));
        computed.push(body as SpecAdviceRequest);
        return ADVICE;
      };
    }
    return computed;
  }

  test("samples the providers that offer trials, shows each sample, and answers with what one of them computes", async () => {
    const offering = providers.slice(1);
    const computed = offer(offering);
    const response = await post("/specs/advise", { samples: 3, seconds: 3 }, { accept: "text/event-stream" });
    const events = (await response.text()).trim().split("\n\n");
    expect(events.map((event) => event.split("\n")[0])).toEqual([...Array(3).fill("event: sample"), "event: answer"]);
    const [first, , , last] = events.map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)));
    expect(first).toMatchObject({ taken: 1, of: 3 });
    const addresses = offering.map(({ address }) => address).toSorted();
    expect(first.providers.map(({ provider }: { provider: string }) => provider).toSorted()).toEqual(addresses);
    expect(first.providers[0]).toMatchObject({ text: "1 K", failure: null });
    expect(last).toEqual(ADVICE);
    expect(computed).toHaveLength(1);
    expect(computed[0]).toMatchObject({ spec: SPEC, arguments: ARGS, interval_seconds: 1 });
    for (const { samples } of computed[0]?.providers ?? []) {
      expect(samples).toEqual(["1", "2", "3"].map((value) => [{ value, failure: null }]));
    }
  });

  test("goes on without a provider that fails, and lets another one compute", async () => {
    const computed = offer(providers);
    const [provider] = providers as [Provider];
    const works = provider.trial;
    let asked = 0;
    provider.trial = (path, body) => {
      asked += 1;
      return path === "/specs/try" && asked === 1 ? works?.(path, body) : problem(500, "internal_error")();
    };
    const response = await post("/specs/advise", { samples: 2, seconds: 2 });
    expect([response.status, await response.json()]).toEqual([200, ADVICE]);
    const own = computed[0]?.providers.find((each) => each.provider === provider.address);
    expect(own?.samples).toEqual([[{ value: "1", failure: null }], null]);
  });

  test("says at once what is wrong with the spec, or that no provider offers trials", async () => {
    const errors = [{ property: "/", problem: "wrong" }];
    for (const each of providers) each.trial = problem(422, "invalid_spec", { errors });
    const answer = async (change: object = {}) => {
      const response = await post("/specs/advise", { samples: 30, seconds: 120, ...change });
      return { status: response.status, body: await response.json() };
    };
    expect(await answer()).toMatchObject({ status: 422, body: { code: "invalid_spec", errors } });
    for (const each of providers) each.trial = null;
    expect(await answer()).toMatchObject({ status: 404, body: { code: "trials_off" } });
    expect(await answer({ seconds: 29 })).toMatchObject({ status: 400, body: { code: "invalid_body" } });
    expect(await answer({ seconds: 121 })).toMatchObject({ status: 400, body: { code: "invalid_body" } });
    expect(await answer({ samples: 31 })).toMatchObject({ status: 400, body: { code: "invalid_body" } });
  });

  test("ends when the caller goes, and refuses a third sampling at a time", async () => {
    offer(providers);
    const leaving = new AbortController();
    const begin = () =>
      post("/specs/advise", { samples: 30, seconds: 120 }, { accept: "text/event-stream" }, leaving.signal);
    const streams = await Promise.all([begin(), begin()]);
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const third = () => post("/specs/advise", { samples: 2, seconds: 2 });
    expect(await third()).toMatchObject({ status: 503 });
    leaving.abort();
    await expect.poll(async () => (await third()).status, { timeout: 20_000 }).toBe(200);
  });
});
