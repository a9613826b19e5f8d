import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { TSchema } from "@sinclair/typebox";
import { describe, expect, test } from "vitest";
import { type NetworkSettings, OperatorConfig } from "../src/config.js";
import { FeedSettings } from "../src/plugins/feeds/settings.js";
import { startCommittee } from "./support/committee.js";
import { type OperatorOptions, startOperator } from "./support/operator.js";

/** Every number of the configuration at both ends of its bounds, which are the schema's, in an operator that is used. */

const { body, chain, dataset, providers } = await startCommittee(4);

const isNumber = ({ type }: TSchema) => type === "integer" || type === "number";

/** Returns the numbers of an object's schema, each with one of its bounds. */
function endsOf({ properties }: { readonly properties: Record<string, TSchema> }): [string, number][] {
  return Object.entries(properties)
    .filter(([, schema]) => isNumber(schema))
    .flatMap(([name, { minimum, maximum }]): [string, number][] => [
      [name, minimum],
      [name, maximum],
    ]);
}

/** Returns the paths of all numbers in a schema that lack a bound. */
function unbounded(schema: TSchema, path: string): string[] {
  if (isNumber(schema)) return Number.isFinite(schema.minimum) && Number.isFinite(schema.maximum) ? [] : [path];
  const parts: [string, TSchema][] = [
    ...Object.entries((schema.properties ?? {}) as Record<string, TSchema>),
    ...((schema.anyOf ?? []) as TSchema[]).map((one): [string, TSchema] => ["", one]),
    ...(schema.items === undefined ? [] : [["*", schema.items as TSchema] satisfies [string, TSchema]]),
  ];
  return parts.flatMap(([name, part]) => unbounded(part, name === "" ? path : `${path}/${name}`));
}

test("every number has a lower and an upper bound", () => {
  expect(unbounded(OperatorConfig, "")).toEqual([]);
});

/** What else may be said where an answer hardly comes in time. */
const TOO_SHORT: Readonly<Record<string, readonly string[]>> = {
  "rpcTimeoutMs 1": ["not_ready", "rpc_timeout", "rpc_failed"],
  "providerTimeoutMs 1": ["no_quorum"],
};

/** Starts an operator, which must say that it is ready, and answer a request. */
async function use(what: string, settings: Partial<NetworkSettings>, options: OperatorOptions = {}) {
  const failures = TOO_SHORT[what] ?? [];
  const mayLackNetworks = failures.includes("not_ready");
  const operator = await startOperator([{ chain, datasets: [dataset], providers, settings }], {
    ...options,
    mayLackNetworks,
  });
  // One connection, because a service may be configured to have no more.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = async (path: string, sent?: unknown) => {
    const method = sent === undefined ? "GET" : "POST";
    const made = request(operator.base + path, { agent, method, headers: { "content-type": "application/json" } });
    made.end(sent === undefined ? undefined : JSON.stringify(sent));
    const [answered] = (await once(made, "response")) as [IncomingMessage];
    return { status: answered.statusCode, body: (await json(answered)) as { status: string; code?: string } };
  };
  try {
    const ready = await send("/ready");
    expect(mayLackNetworks ? [200, 503] : [200], JSON.stringify(ready)).toContain(ready.status);
    const { body: answer } = await send("/data/request", body(spotPriceKey("ETH-USD"), false));
    expect(["OK", ...failures], JSON.stringify(answer)).toContain(answer.code ?? answer.status);
    expect(operator.log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  } finally {
    agent.destroy();
    await operator.close();
  }
}

/** Node uses a timer of 1 ms in place of one that is too long, and says so. */
const warnings: string[] = [];
process.on("warning", ({ name }) => void warnings.push(name));

describe("the operator works with", () => {
  test.each(endsOf(OperatorConfig.properties.networks.items).filter(([name]) => name !== "networkId"))(
    "%s %s",
    async (name, value) => {
      await use(`${name} ${value}`, { [name]: value });
    },
  );

  test.each(endsOf(FeedSettings))("a feed of %s %s", async (name, value) => {
    const policy = { heartbeatSeconds: 31_536_000, deviationBps: 100, minIntervalSeconds: 1, [name]: value };
    await use(`${name} ${value}`, { feeds: [{ dataset, keys: [spotPriceKey("BTC-USD")], ...policy }] });
  });

  test.each(endsOf(OperatorConfig).filter(([name]) => !name.toLowerCase().endsWith("port")))(
    "%s %s",
    async (name, value) => {
      await use(`${name} ${value}`, {}, { [name]: value });
    },
  );

  test("no warning of Node about a timer", () => {
    expect(warnings.filter((name) => name.startsWith("Timeout"))).toEqual([]);
  });
});
