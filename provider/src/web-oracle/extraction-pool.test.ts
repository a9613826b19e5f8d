import type { RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { ok } from "@dataset-oracle/protocol/result";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { describe, expect, onTestFinished, test } from "vitest";
import { ExtractionPool, type ExtractionPoolOptions } from "./extraction-pool.js";

const source = { method: "GET", url: "https://api.example.com/", type: "uint", decimals: 0 } as const;
const SPEC: RequestSpec = {
  title: "a",
  variables: [{ name: "v", type: "string", characters: "letters", minLength: 1, maxLength: 9 }],
  sources: [{ ...source, path: "$['{v}']", rounding: "truncate" }],
  minSources: 1,
  combine: "median",
};
const job = (arg: string, text = '{"a":1.0,"b":2}') =>
  ({ specHash: "0x01", spec: SPEC, args: [arg], answers: [ok({ text })] }) as const;

/** Returns a worker module that runs `onJob` for each job. */
const worker = (onJob: string) =>
  new URL(
    `data:text/javascript,import { parentPort as port } from "node:worker_threads";${encodeURIComponent(
      `port.on("message", (job) => { ${onJob} }); port.postMessage("ready");`,
    )}`,
  );

function open(options: ExtractionPoolOptions = {}) {
  const pool = new ExtractionPool(SYSTEM_CLOCK, { size: 1, ...options });
  onTestFinished(() => pool.close());
  return pool;
}

describe("a pool of workers", () => {
  test("extracts what the engine extracts, and parses the same text once", async () => {
    const pool = open();
    const text = '{"a":1.0,"b":2}';
    const all = await Promise.all(["a", "b", "c"].map((arg) => pool.run(job(arg, text), false)));
    expect(all).toMatchObject([
      { value: { readings: [{ ok: true, value: 1n }] } },
      { value: { readings: [{ ok: true, value: 2n }] } },
      { value: { readings: [{ ok: false, error: { code: "no_node" } }] } },
    ]);
    const works = all.map((result) => (result.ok ? result.value.work : 0));
    expect((works[0] ?? 0) - (works[1] ?? 0)).toBe(text.length);
  });

  test("copies an answer that several keys share once to a worker, and gives each key what its own sources said", async () => {
    const length = worker("port.postMessage({ readings: [], work: JSON.stringify(job.answers).length });");
    const copied = await open({ worker: length }).run(job("a"), false);
    const pool = open({ worker: length });
    const { answers, ...one } = job("a");
    const jobs = [answers, answers, job("a").answers, answers].map((some) =>
      pool.run({ ...one, answers: some }, false),
    );
    expect(await Promise.all(jobs)).toEqual([copied, { ok: true, value: { readings: [], work: 6 } }, copied, copied]);

    const [known, other] = [ok({ text: '{"a":1}' }), ok({ text: '{"a":2}' })];
    const extracting = open();
    const values = [known, known, other, other, known].map((answer) =>
      extracting.run({ ...one, answers: [answer] }, false),
    );
    const read = (await Promise.all(values)).map((result) => result.ok && result.value.readings[0]);
    expect(read).toEqual([1n, 1n, 2n, 2n, 1n].map((value) => ok(value)));
  });

  test("ends a worker that runs for too long, and goes on with another", async () => {
    const endless = 'if (job.args[0] === "x") for (;;); port.postMessage({ readings: [], work: 1 });';
    const pool = open({ worker: worker(endless), runMs: 500 });
    const [bad, good] = await Promise.all([pool.run(job("x"), false), pool.run(job("a"), false)]);
    expect([bad, good]).toEqual([
      { ok: false, error: "failed" },
      { ok: true, value: { readings: [], work: 1 } },
    ]);
  });

  test("does not count the start of the first worker as waiting", async () => {
    const { href } = worker("port.postMessage({ readings: [], work: 1 });");
    const slow = href.replace("port.postMessage(%22ready%22)", "setTimeout(() => port.postMessage(%22ready%22), 200)");
    expect(slow).toContain("setTimeout");
    expect(await open({ worker: new URL(slow), waitMs: 50 }).run(job("a"), false)).toMatchObject({ ok: true });
  });

  test("survives a worker that runs out of memory", async () => {
    const pool = open({
      worker: worker("const all = []; for (;;) all.push(Array(1e5).fill(job));"),
      heapMegabytes: 16,
    });
    expect(await pool.run(job("a"), false)).toEqual({ ok: false, error: "failed" });
  });

  test("fails its jobs when no worker starts, and when it is closed", async () => {
    const broken = open({ worker: new URL("data:text/javascript,throw new Error('broken')") });
    expect(await broken.run(job("a"), false)).toEqual({ ok: false, error: "failed" });
    const pool = open({ worker: worker("") });
    const jobs = [pool.run(job("a"), false), pool.run(job("b"), true)];
    await pool.close();
    expect(await Promise.all(jobs)).toEqual(Array(2).fill({ ok: false, error: "failed" }));
    expect(await pool.run(job("a"), true)).toEqual({ ok: false, error: "full" });
  });

  test("does the jobs of operators first, and keeps room for them", async () => {
    const pool = open({ worker: worker("port.postMessage({ readings: [], work: 1 });") });
    const order: string[] = [];
    const run = (name: string, text: string, mayUseReserve: boolean) =>
      pool.run(job("a", text), mayUseReserve).then(({ ok }) => order.push(ok ? name : `${name} refused`));
    const large = (id: number) => String.fromCharCode(97 + id).repeat(1024 * 1024);
    const jobs = [...Array(16).keys()].map((id) => run("anonymous", large(id), false));
    jobs.push(run("anonymous", large(17), false), run("operator", large(18), true));
    await Promise.all(jobs);
    expect(order).toEqual(["anonymous refused", "operator", ...Array(16).fill("anonymous")]);
  });
});
