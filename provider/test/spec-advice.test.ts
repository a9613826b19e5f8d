import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SpecAdvice } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { Value } from "@sinclair/typebox/value";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { styleOf } from "../src/cli/text-style.js";
import { advise } from "../src/web-oracle/advice/compute-advice.js";
import { adviceToText } from "../src/web-oracle/advice/format-advice.js";
import { loadKeptSamples } from "../src/web-oracle/advice/load-kept-samples.js";
import { readingsOfSamples } from "../src/web-oracle/advice/readings-of-samples.js";
import { sampleSources } from "../src/web-oracle/advice/sample-sources.js";
import { compileSpec } from "../src/web-oracle/compile-spec.js";
import { startTrialProvider, type TrialProvider } from "./support/trial-provider.js";

const CLI = fileURLToPath(new URL("../dist/web-oracle/cli/main.js", import.meta.url));
const PLAIN = styleOf({ isTTY: false }, {});

/** Answers the n-th request for a source, counted from 0; null fails. */
type Say = (n: number) => string | number | boolean | null;

let api: Server;
let folder: string;
let says: Record<string, Say> = {};
const asked = new Map<string, number>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "advise-"));
  api = createServer(({ url = "" }, response) => {
    const source = url.slice(1);
    const n = asked.get(source) ?? 0;
    asked.set(source, n + 1);
    const value = says[source]?.(n) ?? null;
    if (value === null) return response.writeHead(500).end();
    return response.setHeader("content-type", "application/json").end(JSON.stringify({ value }));
  }).listen(0, "127.0.0.1");
  await once(api, "listening");
});
beforeEach(() => asked.clear());
afterAll(() => {
  api.close();
});

const origin = "https://api.example.com";
const local = () => `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
const number = { type: "uint", decimals: 2, rounding: "half-even" };

/** A spec whose sources are those in `says`. */
const specOf = (shape: object, combine: string) => ({
  title: "A value",
  variables: [],
  sources: Object.keys(says).map((name) => ({ method: "GET", url: `${origin}/${name}`, path: "$.value", ...shape })),
  minSources: 1,
  combine,
});

/** Samples the sources as fast as they answer. */
async function adviceOn(shape: object, combine: string, sources: Record<string, Say>, count = 20) {
  says = sources;
  const compiled = compileSpec(specOf(shape, combine));
  if (!compiled.ok) throw new Error(compiled.error);
  const bound = compiled.value.bind([]);
  if (!bound.ok) throw new Error(bound.error);
  const egress = new Egress({ redirectedOrigins: { [origin]: local() } });
  const sampling = { count, intervalSeconds: 0.001, signal: AbortSignal.timeout(20_000), onSample: () => {} };
  const samples = await sampleSources(compiled.value, bound.value, [], egress, sampling);
  await egress.close();
  const readings = [readingsOfSamples(bound.value, samples)];
  const advice = advise({ compiled: compiled.value, bound: bound.value, readings, intervalSeconds: 2 });
  return { samples, advice, text: adviceToText(compiled.value, bound.value, advice, PLAIN) };
}

describe("advice on a number", () => {
  it("that drifts names the tolerance that always held, and counts the intervals in which each other one held", async () => {
    // It rises by 0.1 % in every interval, and once by 0.4 %.
    const { advice, text } = await adviceOn(number, "median", { a: (n) => 1_000 + n + (n >= 10 ? 3 : 0) });
    expect(advice).toMatchObject({
      samples: 20,
      with_value: 20,
      character: "drifting number",
      steps: { count: 19, changed: 19 },
    });
    const held = new Map(advice.tolerances.map(({ bps, steps_held }) => [bps, steps_held]));
    expect([held.get(0), held.get(5), held.get(10), held.get(25), held.get(50)]).toEqual([0, 0, 18, 18, 19]);
    expect(advice.steps.largest_bps).toBeCloseTo(39.64, 1);
    expect(text).toContain("Fits: median, in a dataset with a tolerance of 40 basis points or more");
    expect(text).toContain("have the same number in 0 of 19 cases");
    expect(text).toContain("one, so there is nothing to compare it with");
  });

  it("names the source that is late, by how much, and no other", async () => {
    const walk = [0, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2];
    const at = (n: number) => 1_000 + (walk[Math.max(0, n)] ?? 0);
    const { advice, text } = await adviceOn(number, "median", { a: at, b: at, c: (n) => at(n - 2) }, 30);
    expect(advice.sources.map(({ follows }) => follows?.seconds ?? null)).toEqual([null, null, 4]);
    expect(advice.sources[2]?.follows).toMatchObject({ name: "/sources/0", delayed_distance: 0 });
    expect(text).toMatch(
      /shows what \/sources\/0 shows, but 4 s later: on average [\d.]+ basis points apart at the same time, and 0 basis/,
    );
    expect(text).toContain("/sources/2 lags behind /sources/0");
  });

  it("that jumps fits neither rule", async () => {
    const { advice, text } = await adviceOn(number, "median", { a: (n) => (n % 5 === 4 ? 2_000 : 1_000) });
    expect(advice).toMatchObject({ character: "jumping number", steps: { largest_bps: 10_000 } });
    expect(text).toContain("Neither fits: the number jumps by up to 10000 basis points");
  });

  it("that stays the same fits median with every tolerance, and says how far its sources are apart", async () => {
    const { advice, text } = await adviceOn(number, "median", { a: () => 1_000, b: () => 1_001 });
    expect(advice).toMatchObject({
      character: "fixed number",
      source_agreement: { compared: 20, equal: 0, farthest_bps: 10 },
    });
    expect(text).toContain("all said the same in 0 of 20 samples, and were at most 10 basis points apart");
  });

  it("counts what sources failed with, and leaves out samples without a value", async () => {
    const sources = { a: (n: number) => (n % 4 === 3 ? null : 7), b: (n: number) => (n % 4 === 3 ? null : "seven") };
    const { advice, text } = await adviceOn(number, "median", sources);
    expect(advice.sources.map(({ with_value, failures }) => ({ with_value, failures }))).toEqual([
      { with_value: 15, failures: { http_status: 5 } },
      { with_value: 0, failures: { http_status: 5, not_a_number: 15 } },
    ]);
    expect(advice).toMatchObject({
      with_value: 15,
      steps: { count: 10, changed: 0 },
      source_agreement: { compared: 0 },
    });
    expect(text).toContain("answered in 15 of 20 samples; http_status in 5");
  });
});

describe("advice on a word", () => {
  const word = { type: "string" };

  it("that changes fits majority, and says in how many cases providers would have read different values", async () => {
    const { advice, text } = await adviceOn(word, "majority", { a: (n) => (n < 7 ? "rain" : n < 14 ? "sun" : "fog") });
    expect(advice).toMatchObject({ character: "changing word", steps: { count: 19, changed: 2 } });
    expect(text).toContain("Fits: majority. Two providers that read 2 s apart read different values in 2 of 19 cases");
  });

  it("on which sources differ says in how many samples majority and equal give a value", async () => {
    const { advice, text } = await adviceOn(word, "equal", {
      a: () => "rain",
      b: () => "rain",
      c: (n) => (n < 5 ? "rain" : "Rain"),
    });
    expect(advice).toMatchObject({
      character: "fixed word",
      combinations: { majority: 20, equal: 5 },
      source_agreement: { compared: 20, equal: 5 },
    });
    expect(text).toContain("majority gives a value in 20 of 20 samples, equal in 5");
  });

  it("that is a number in fact fits median", async () => {
    const { advice, text } = await adviceOn(word, "majority", { a: (n) => `${20 + n}.5` });
    expect(advice.character).toBe("numeric word");
    expect(text).toContain("Fits: median, with the type uint");
  });

  it("that is late in one source names the source", async () => {
    const said = (n: number) => (n < 9 ? "rain" : "sun");
    const { advice, text } = await adviceOn(word, "majority", { a: said, b: (n) => said(n - 3) });
    expect(advice.sources.map(({ follows }) => follows?.seconds ?? null)).toEqual([null, 6]);
    expect(text).toContain("different in 21 % of the samples at the same time, and in 0 % with this delay");
  });

  it("is not given when there is no value", async () => {
    const { advice, text } = await adviceOn(word, "majority", { a: () => null }, 3);
    expect(advice).toMatchObject({ character: "no value", with_value: 0 });
    expect(text).toContain("No sample had a value");
  });
});

describe("web-oracle advise", () => {
  async function run(args: readonly string[]) {
    const options = { env: { PATH: process.env.PATH ?? "" }, timeout: 25_000 };
    try {
      return { code: 0, ...(await promisify(execFile)(process.execPath, [CLI, "advise", ...args], options)) };
    } catch (error) {
      return error as { code: number; stdout: string; stderr: string };
    }
  }

  it("shows its progress, keeps the answers, and gives the same advice from them without a network", async () => {
    says = { a: (n) => 1_000 + n };
    const spec = join(folder, "spec.json");
    writeFileSync(spec, JSON.stringify(specOf(number, "median")));
    const kept = join(folder, "samples.json");
    const bounds = ["--samples", "3", "--interval", "1", "--keep", kept, "--override", `${origin}=${local()}`];
    const live = await run([spec, ...bounds]);
    expect(live).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/1 of 3: 1000 .*\n2 of 3: 1001 .*\n3 of 3/s),
    });
    expect(live.stdout).toContain("samples:   3 in 2 s, 3 of 3 with a value");
    const count = asked.get("a");
    expect(await run(["--replay", kept])).toEqual({ code: 0, stdout: live.stdout, stderr: "" });
    expect(asked.get("a")).toBe(count);

    const samples = JSON.parse(readFileSync(kept, "utf8"));
    const changed = (change: object) => {
      const file = join(folder, "changed.json");
      writeFileSync(file, JSON.stringify({ ...samples, ...change }));
      return () => loadKeptSamples(file);
    };
    const [hash = "", ...others] = Object.keys(samples.texts);
    const rest = Object.fromEntries(others.map((each) => [each, samples.texts[each]]));
    expect(changed({ texts: { ...rest, [hash]: '{"value":1}' } })).toThrow("it was changed");
    expect(changed({ texts: rest })).toThrow("is missing");
    expect(changed({ samples: [{ at: 1, answers: [] }] })).toThrow("is missing");
    expect(changed({ surprise: 1 })).toThrow("/surprise");
    expect(changed({ spec: {} })).toThrow("its spec is not valid");
  });

  it.concurrent.each([
    [[], "Name the file of the spec"],
    [["spec.json", "--samples", "1"], "--samples: 1 is not a whole number from 2 to 1000"],
    [["spec.json", "--interval", "0.5"], "--interval: 0.5 is not a whole number from 1 to 600"],
    [["spec.json", "--samples", "1000", "--interval", "600"], "more than a day"],
    [["spec.json", "--providers", "http://127.0.0.1:1,ftp://b"], "--providers: number 2 is not an http or https URL"],
    [["spec.json", "--providers", "http://127.0.0.1:1", "--samples", "31"], "is not a whole number from 2 to 30"],
    [["--replay", "/nowhere.json"], "/nowhere.json cannot be read: ENOENT"],
    [["spec.json", "--replay", "samples.json"], "The file of --replay contains the spec"],
    [["--replay", "samples.json", "--samples", "3"], "--replay takes no samples"],
  ])("%j is told what to fix", async (args, problem) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(problem);
  });
});

describe("POST /specs/advise", () => {
  let provider: TrialProvider;
  beforeAll(async () => {
    provider = await startTrialProvider({ folder, redirectTo: local() });
  });
  beforeEach(() => {
    says = { a: () => null };
  });
  afterAll(() => provider?.close());

  const sample = (...values: (string | null)[]) =>
    values.map((value) => ({ value, failure: value === null ? "timeout" : null }));
  const readings = (...providers: (string | null)[][]) => ({
    spec: specOf(number, "median"),
    arguments: [],
    interval_seconds: 2,
    providers: providers.map((values, index) => ({
      provider: `provider ${index}`,
      samples: values.map((value) => sample(value)),
    })),
  });

  it("says whether the providers agree, and which tolerance would have held, as the dataset compares", async () => {
    const { advise } = provider;
    const { status, body } = await advise(
      readings(["10000", "10010", "10020"], ["10000", "10010", "10025"], ["10000", "10011", null]),
    );
    expect([status, Value.Check(SpecAdvice, body)]).toEqual([200, true]);
    expect(body).toMatchObject({
      samples: 3,
      readings: 9,
      with_value: 8,
      character: "drifting number",
      agreement: { compared: 3, equal: 1, farthest_bps: 4.99 },
      providers: [{ with_value: 3 }, { with_value: 3 }, { with_value: 2 }],
      sources: [{ readings: 9, with_value: 8, failures: { timeout: 1 } }],
    });
    const held = new Map(body.tolerances.map(({ bps, held }: { bps: number; held: number }) => [bps, held]));
    expect([held.get(0), held.get(1), held.get(5)]).toEqual([1, 2, 3]);
    expect(body.conclusions).toContain(
      "The 3 providers had the same number in 1 of 3 samples; all were within 5 basis points of the median.",
    );
  });

  it("compares only providers that answered", async () => {
    const { advise } = provider;
    const asked = readings(["1", "1"], ["1", "1"]);
    const [first] = asked.providers;
    const alone = { ...asked, providers: [first, { provider: "silent", samples: [null, null] }] };
    const { body } = await advise(alone);
    expect(body).toMatchObject({ readings: 2, agreement: { compared: 0 }, character: "fixed number" });
    expect(body.conclusions.join(" ")).toContain("The providers cannot be compared");
    expect((await advise(asked)).body.conclusions).toContain(
      "The 2 providers agree: they had the same value in 2 of 2 samples.",
    );
  });

  it("refuses readings that do not fit the spec", async () => {
    const { advise } = provider;
    const good = readings(["1", "2"]);
    const wrong: unknown[] = [
      [{ provider: "a", samples: [sample("1", "2")] }],
      [{ provider: "a", samples: [sample("-1")] }],
      [{ provider: "a", samples: [sample("1".repeat(79))] }],
      [{ provider: "a", samples: [sample(`0x${"00".repeat(32)}`)] }],
      [{ provider: "a", samples: [[{ value: null, failure: null }]] }],
      [...good.providers, { provider: "b", samples: [sample("1")] }],
    ];
    for (const providers of wrong) {
      expect(await advise({ ...good, providers })).toMatchObject({
        status: expect.toSatisfy((status: number) => status === 422 || status === 400),
        body: { code: expect.stringMatching(/^invalid_(?:readings|body)$/) },
      });
    }
    expect(await advise({ ...good, spec: {} })).toMatchObject({ status: 422, body: { code: "invalid_spec" } });
  });
});
