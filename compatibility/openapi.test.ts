import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import spectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import spectralRulesets from "@stoplight/spectral-rulesets";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Devnet, freePortOptions, startDevnet } from "../devnet/test/devnet-process.js";
import { openApiDocuments } from "../docs/site/app-for-docs.js";
import { linkPackages } from "./linked-packages.js";

const runFile = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "openapi-"));

let devnet: Devnet;
/** The documents, as running services serve them. */
const documents: Record<string, OpenAPI3> = {};

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
  for (const [name, url] of Object.entries({ operator: devnet.operator.url, provider: devnet.providers[0]?.url })) {
    const response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(5_000) });
    expect(response.status).toBe(200);
    documents[name] = (await response.json()) as OpenAPI3;
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(documents[name]));
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  linkPackages(folder);
}, 190_000);

afterAll(async () => {
  await devnet?.interrupt();
});

test("the documents whose hash the stamp holds are those of running services", async () => {
  const { operator, provider } = await openApiDocuments();
  expect({ operator, provider }).toEqual(documents);
});

const documentOf = (name: string) => documents[name] as OpenAPI3;

describe.each(["operator", "provider"])("the OpenAPI document of the %s", (name) => {
  test("has nothing that Spectral complains about", async () => {
    const spectral = new spectralCore.Spectral();
    spectral.setRuleset({ extends: [spectralRulesets.oas as RulesetDefinition] });
    expect(await spectral.run({ ...documentOf(name) })).toEqual([]);
  });
});

const CLIENT = `
import createClient from "openapi-fetch";
import type { paths as Operator } from "./operator.js";
import type { paths as Provider } from "./provider.js";

/** Without it, answers could also be event streams. */
type Json = "application/json" | "application/problem+json";

const [operatorUrl = "", providerUrl = "", dataset = ""] = process.argv.slice(2);
const operator = createClient<Operator, Json>({ baseUrl: operatorUrl });
const body = { network_id: 42, dataset, key: "SPOTPX/ETH-USD", broadcast: true };

const updated = await operator.POST("/data/request", { body, params: { header: { prefer: "wait=10" } } });
if (updated.error) throw new Error(updated.error.title);
const { status, transaction_hash, timestamp } = updated.data;

const unsent = await operator.POST("/data/request", { body: { ...body, broadcast: false } });
const gas: number | undefined = unsent.data?.transaction_request?.gas;

const refused = await operator.POST("/data/request", { body: { ...body, network_id: 43 } });
const problem = refused.error;
const served: number[] = problem?.code === "unknown_network" ? problem.served_network_ids : [];

const streaming = createClient<Operator, "text/event-stream">({ baseUrl: operatorUrl });
const headers = { accept: "text/event-stream" };
const stream = await streaming.POST("/data/request", { body, headers, parseAs: "text" });
const events: string = stream.data ?? "";

const query = { network_id: 42, dataset, key: body.key };
const history = await operator.GET("/history", { params: { query: { ...query, limit: 1 } } });
const point = await operator.GET("/data", { params: { query } });

const ready = await operator.GET("/ready");
const unreadable: boolean[] | undefined = ready.error?.code === "not_ready" ? ready.error.networks.map(({ rpc }) => rpc) : [];

const provider = createClient<Provider>({ baseUrl: providerUrl });
const report = await provider.POST("/report", {
  body: { network_id: 42, dataset, key: point.data?.key_hex ?? "", timestamp: Math.floor(Date.now() / 1000) },
});
if (report.error) throw new Error(report.error.detail);

console.log(JSON.stringify({
  update: [status, typeof transaction_hash, typeof timestamp],
  gas: typeof gas,
  served,
  lastEvent: events.match(/event: (\\w+)/g)?.at(-1),
  updates: history.data?.updates.length,
  point: point.data?.status,
  ready: ready.data?.ready,
  unreadable,
  outcome: report.data.outcome,
}));
`;

test("a generated client compiles, and reads every kind of answer", async () => {
  for (const name of ["operator", "provider"]) {
    writeFileSync(join(folder, `${name}.ts`), astToString(await openapiTS(documentOf(name))));
  }
  writeFileSync(join(folder, "client.ts"), CLIENT);
  const flags = "--strict --exactOptionalPropertyTypes --module nodenext --target es2022 --types node --skipLibCheck";
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const compiled = await runFile(tsc, ["client.ts", ...flags.split(" ")], { cwd: folder }).catch((error) => error);
  expect(compiled.stdout).toBe("");
  const { operator, providers, dataset } = devnet;
  const args = ["client.js", operator.url, providers[0]?.url ?? "", dataset];
  const { stdout } = await runFile(process.execPath, args, { cwd: folder });
  expect(JSON.parse(stdout)).toEqual({
    update: ["OK", "string", "number"],
    gas: "number",
    served: [42],
    lastEvent: "event: answer",
    updates: 1,
    point: "OK",
    ready: true,
    unreadable: [],
    outcome: "OK",
  });
});
