import type { SpecAdvice, SpecAdviceRequest } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import type { SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
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
let post: OperatorWithTrials["post"];

beforeAll(async () => {
  ({ providers, post } = await startOperatorWithTrials());
});
beforeEach(() => {
  for (const provider of providers) provider.trial = null;
});

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
