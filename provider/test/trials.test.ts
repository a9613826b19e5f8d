import { once } from "node:events";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findLeakedSecrets } from "@dataset-oracle/devnet/find-leaked-secrets";
import { SpecTrial } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { Value } from "@sinclair/typebox/value";
import { type Hex, hexToString, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ExtractionPool } from "../src/web-oracle/extraction-pool.js";
import { RateLimitedExtractor } from "../src/web-oracle/rate-limited-extractor.js";
import { Trials } from "../src/web-oracle/trial/trials.js";
import { spawnProvider, untilListening, writeConfig } from "./support/provider-process.js";
import { ACCOUNT, DATASET, PRIVATE_KEY } from "./support/test-provider.js";
import {
  HOST,
  OTHER_HOST,
  startTrialProvider,
  type TrialProvider,
  type TrialProviderOptions,
} from "./support/trial-provider.js";

const source = { method: "GET", url: `https://${HOST}/now`, path: "$.celsius", type: "uint" };
const number = { ...source, decimals: 2, rounding: "half-even" };
const spec = (sources: object[] = [number], change: object = {}) => ({
  title: "The temperature",
  variables: [],
  sources,
  minSources: 1,
  combine: "median",
  ...change,
});

let api: Server;
let folder: string;
/** The provider of tests that need no other. */
let web: TrialProvider;
const asked: string[] = [];
const ANSWERS: Record<string, string> = {
  "/now": '{"celsius": 21.505}',
  "/later": '{"celsius": 22.5}',
  "/sky": '{"sky": "clear"}',
  "/huge": `{"celsius": 1, "x": "${"x".repeat(1024 * 1024)}"}`,
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "trials-"));
  api = createServer(({ url = "" }, response) => {
    asked.push(url);
    const path = url.split("?")[0] ?? "";
    if (path === "/slow") return;
    if (path === "/html") return response.setHeader("content-type", "text/html").end("<html>");
    const text = ANSWERS[path];
    if (text === undefined) return response.writeHead(404).end();
    return response.setHeader("content-type", "application/json").end(text);
  }).listen(0, "127.0.0.1");
  await once(api, "listening");
  web = await startTrialProvider({ folder, redirectTo: local() });
});
afterAll(async () => {
  await web?.close();
  api.closeAllConnections();
  api.close();
});

const local = () => `http://127.0.0.1:${(api.address() as AddressInfo).port}`;

/** Starts a provider for one test. */
async function startOwn(options: Pick<TrialProviderOptions, "trials" | "operators">): Promise<TrialProvider> {
  const own = await startTrialProvider({ folder, redirectTo: local(), ...options });
  onTestFinished(() => own.close());
  return own;
}

describe("POST /specs/try", () => {
  it("shows each step to the value, the key, and the bytes to publish, and stores nothing", async () => {
    const { tryOut } = web;
    const tried = spec([number, { ...number, url: `https://${HOST}/later` }], { unit: { symbol: "°C", decimals: 2 } });
    const { status, body } = await tryOut(tried);
    expect([status, Value.Check(SpecTrial, body)]).toEqual([200, true]);
    const trial = body as SpecTrial;
    const text = '{"celsius": 21.505}';
    expect(trial.sources[0]).toEqual({
      name: "/sources/0",
      fetched: {
        method: "GET",
        url: `https://${HOST}/now`,
        status: 200,
        bytes: text.length,
        sha256: sha256(text),
        ms: expect.any(Number),
      },
      selected: { path: "$.celsius", text: "21.505" },
      scaled: { value: "2150", text: "21.5 °C" },
      error: null,
    });
    expect(trial).toMatchObject({
      provider: ACCOUNT.address,
      kind: "median",
      combined: { how: "median", min_sources: 1, with_value: 2, status: "OK", reason: null, value: "2150" },
      output: `0x${(2150).toString(16).padStart(64, "0")}`,
    });
    expect(keccak256(trial.spec_bytes as Hex)).toBe(trial.spec_hash);
    expect(JSON.parse(hexToString(trial.spec_bytes as Hex))).toEqual(tried);
    expect(trial.key).toBe(`WEB/${trial.spec_hash.slice(2)}`);
    expect(hexToString(trial.key_hex as Hex)).toBe(trial.key);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("says at which step each source failed, and how to fix it", async () => {
    const { tryOut } = web;
    const { body } = await tryOut(
      spec([
        { ...number, url: `https://${HOST}/none` },
        { ...number, url: `https://${HOST}/html` },
        { ...number, path: "$.kelvin" },
        { ...number, url: `https://${HOST}/sky`, path: "$.sky" },
        { ...number, path: "$" },
        { ...number, url: `https://${HOST}/huge` },
      ]),
    );
    expect(Value.Check(SpecTrial, body)).toBe(true);
    const steps = (body as SpecTrial).sources.map(({ selected, error }) => [error?.step, error?.code, selected?.text]);
    expect(steps).toEqual([
      ["fetched", "http_status", undefined],
      ["fetched", "content_type", undefined],
      ["selected", "no_node", undefined],
      ["scaled", "not_a_number", '"clear"'],
      ["scaled", "not_a_number", "an object with the members celsius"],
      ["fetched", "too_large", undefined],
    ]);
    for (const { error } of (body as SpecTrial).sources) expect(error?.fix).toMatch(/^[A-Z].*\.$/);
    expect(body).toMatchObject({ combined: { status: "NOT_AVAILABLE", value: null, with_value: 0 }, output: null });
  });

  it("says that a string belongs to the majority dataset", async () => {
    const word = { ...source, url: `https://${HOST}/sky`, path: "$.sky", type: "string" };
    const { body } = await web.tryOut(spec([word], { combine: "majority" }));
    expect(body).toMatchObject({ kind: "majority", type: "string", combined: { text: "clear" } });
    expect(hexToString(body.output, { size: 32 })).toBe("clear");
  });

  it("gives up on a source that does not answer by its deadline", async () => {
    const { tryOut } = web;
    const { body } = await tryOut(spec([number, { ...number, url: `https://${HOST}/slow` }]));
    expect(body.sources[1]).toMatchObject({ error: { step: "fetched", code: "timeout" }, fetched: { status: null } });
    expect(body.combined).toMatchObject({ status: "OK", with_value: 1 });
  }, 60_000);

  it("names the places of what is wrong with a spec, and asks nobody", async () => {
    const { tryOut } = web;
    const count = asked.length;
    const properties = async (tried: unknown) => {
      const { status, body } = await tryOut(tried);
      expect([status, body.code]).toEqual([422, "invalid_spec"]);
      return body.errors.map(({ property }: { property: string }) => property);
    };
    expect(await properties({ ...spec(), minSources: 0, surprise: 1 })).toEqual(["/surprise", "/minSources"]);
    expect(await properties(spec([{ ...number, path: "celsius" }]))).toEqual(["/sources/0"]);
    expect(await properties(spec([number], { combine: "equal" }))).toEqual(["/combine"]);
    expect(await properties("a text")).toEqual(["/"]);
    expect(await tryOut(spec(), ["superfluous"])).toMatchObject({ status: 422, body: { code: "invalid_arguments" } });
    expect(asked.length).toBe(count);
  });

  it("asks no host but those that both rules allow", async () => {
    const count = asked.length;
    const at = (host: string) => spec([number, { ...number, url: `https://${host}/now` }]);
    const refused = { status: 422, body: { code: "host_not_allowed" } };
    const { tryOut } = web;
    expect(await tryOut(at(OTHER_HOST))).toMatchObject(refused);
    const open = await startOwn({ trials: { hosts: "any", rateLimit: { perSecond: 100, burst: 100 } } });
    expect(await open.tryOut(at("api.third.example"))).toMatchObject(refused);
    expect(await open.tryOut(at("127.0.0.1"))).toMatchObject({ status: 422, body: { code: "invalid_spec" } });
    expect(await open.tryOut(at("localhost"))).toMatchObject({ status: 422, body: { code: "invalid_spec" } });
    expect(asked.length).toBe(count);
    expect((await open.tryOut(at(OTHER_HOST))).status).toBe(200);
  });

  it("is off unless the owner set it, and then asks nobody", async () => {
    const { tryOut, advise } = await startOwn({ trials: null });
    const count = asked.length;
    const off = { status: 404, body: { code: "trials_off" } };
    expect(await tryOut(spec())).toMatchObject(off);
    const providers = [{ provider: "a", samples: [[{ value: "1", failure: null }]] }];
    expect(await advise({ spec: spec(), arguments: [], interval_seconds: 1, providers })).toMatchObject(off);
    expect(asked.length).toBe(count);
  });

  it("has a budget of its own, half of which is reserved for operators", async () => {
    const rateLimit = { perSecond: 0.001, burst: 16 };
    const three = spec([number, number, number]);
    const busy = { status: 503, body: { code: "trials_busy" } };
    const anonymous = await startOwn({ trials: { hosts: [HOST], rateLimit }, operators: ["203.0.113.1"] });
    const count = asked.length;
    expect([(await anonymous.tryOut(three)).status, (await anonymous.tryOut(three)).status]).toEqual([200, 200]);
    const refused = await anonymous.tryOut(three);
    expect(refused).toMatchObject(busy);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(60);
    expect(asked.length).toBe(count + 6);

    const operator = await startOwn({ trials: { hosts: [HOST], rateLimit }, operators: ["127.0.0.1"] });
    const statuses: number[] = [];
    for (let index = 0; index < 6; ++index) statuses.push((await operator.tryOut(three)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 503]);
  });
});

describe("trials", () => {
  /** Creates trials that make their requests through an egress. */
  function open(egress: Pick<Egress, "fetchText">) {
    const pool = new ExtractionPool();
    onTestFinished(() => pool.close());
    const extractor = new RateLimitedExtractor(pool, false);
    return new Trials({
      rules: ["any"],
      rateLimit: { perSecond: 100, burst: 100 },
      egress,
      extractor,
      hasReserve: false,
      provider: ACCOUNT.address,
    });
  }
  const caller = { id: "203.0.113.1", mayUseReserve: false };

  it.each(["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1"])(
    "do not connect to %s, whatever name leads there",
    async (address) => {
      let dialled = 0;
      const dial: NonNullable<ConstructorParameters<typeof Egress>[0]>["dial"] = (_, callback) => {
        dialled += 1;
        callback(new Error("dialled"), null);
      };
      const egress = new Egress({ resolve: async () => [address], dial });
      onTestFinished(() => egress.close());
      const trial = await open(egress).run({ spec: spec(), arguments: [] }, caller);
      expect(trial).toMatchObject({ sources: [{ error: { step: "fetched", code: "forbidden" } }] });
      expect(dialled).toBe(0);
    },
  );

  it("are refused while too many are running", async () => {
    const answers: (() => void)[] = [];
    const trials = open({
      fetchText: () =>
        new Promise((done) => answers.push(() => done({ ok: false, error: { code: "timeout", detail: "" } }))),
    });
    const all = Array.from({ length: 9 }, () => trials.run({ spec: spec(), arguments: [] }, caller));
    await expect(all[8]).rejects.toMatchObject({ code: "trials_busy" });
    for (const answer of answers) answer();
    await Promise.all(all.slice(0, 8));
    const later = trials.run({ spec: spec(), arguments: [] }, caller);
    answers[8]?.();
    expect(await later).toMatchObject({ provider: ACCOUNT.address });
  });

  it("send no credentials, not even to the host that they are for", async () => {
    const authority = createCertificateAuthority();
    const requests: string[] = [];
    const host = createTlsServer(authority.issue([HOST]), ({ url, headers }, response) => {
      requests.push(`${url} ${JSON.stringify(headers)}`);
      response.setHeader("content-type", "application/json").end(JSON.stringify({ celsius: 1, url, headers }));
    }).listen(0, "127.0.0.1");
    await once(host, "listening");
    onTestFinished(() => void host.closeAllConnections());
    onTestFinished(() => void host.close());
    const hosts = [HOST];
    const { folder, config } = writeConfig({
      secrets: [
        { host: HOST, header: "x-api-key", env: "PAID" },
        { host: HOST, query: "key", env: "PAID" },
      ],
      webOracle: { rpcUrls: { 42: "http://127.0.0.1:9" }, folder: "specs", hosts, trials: { hosts } },
    });
    const web = { address: DATASET, kind: "median", keyForm: "WEB_ORACLE", keys: [] };
    const deployment = { chainId: 42, datasets: { web }, webOracleRegistry: DATASET };
    writeFileSync(join(folder, "deployment.json"), JSON.stringify(deployment));
    writeFileSync(join(folder, "ca.pem"), authority.cert);
    const internet = fileURLToPath(new URL("support/redirect-connections.cjs", import.meta.url));
    const secret = "canary-of-the-paid-api";
    const provider = spawnProvider(["--config", config], {
      PROVIDER_PRIVATE_KEY: PRIVATE_KEY,
      PAID: secret,
      NODE_OPTIONS: `--require ${internet}`,
      NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
      REDIRECT_HOSTS: HOST,
      REDIRECT_PORT: String((host.address() as AddressInfo).port),
    });
    const url = await untilListening(provider);
    const tried = spec([number, { ...number, path: "$.headers", headers: { "x-api-key": "<secret>" } }]);
    const response = await fetch(`${url}/specs/try`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ spec: tried, arguments: [] }),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    provider.child.kill("SIGTERM");
    expect(JSON.parse(text)).toMatchObject({ combined: { status: "OK", value: "100" } });
    expect(requests).toHaveLength(2);
    expect(findLeakedSecrets([...requests, text, provider.printed.stdout].join("\n"), { secret })).toEqual([]);
    await provider.closed;
  }, 60_000);
});
