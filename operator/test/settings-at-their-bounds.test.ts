import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { boundsIn, endsOf, withSetting } from "@dataset-oracle/tools/schema-bounds";
import { numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { loadOperatorConfig, type NetworkSettings, OperatorConfig } from "../src/config.js";
import { startCommittee } from "./support/committee.js";
import { type OperatorOptions, startOperator } from "./support/operator.js";

/** Every setting of the configuration at both ends of its bounds, which are the schema's, in an operator that is used. */

const { body, chain, dataset, providers } = await startCommittee(4);

/** Texts of a form of their own, by their paths and lengths. */
const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  "/basePath": (length) => "/".padEnd(length, "a"),
};

const BOUNDS = boundsIn(OperatorConfig);
const NUMBERS = BOUNDS.filter((one) => one.of === "number");

/** Returns the ends of the numbers right under a path, each with its name. */
function endsUnder(path: string): [name: string, end: number][] {
  const own = NUMBERS.filter((one) => one.path.slice(0, one.path.lastIndexOf("/") + 1) === path);
  return endsOf(own).map(([at, end]) => [at.slice(path.length), end]);
}

test("every number has a lower and an upper bound", () => {
  expect(NUMBERS.filter(({ least, most }) => !Number.isFinite(least) || !Number.isFinite(most))).toEqual([]);
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
  test.each(endsUnder("/networks/*/").filter(([name]) => name !== "networkId"))("%s %s", async (name, value) => {
    await use(`${name} ${value}`, { [name]: value });
  });

  test.each(endsUnder("/networks/*/feeds/*/"))("a feed of %s %s", async (name, value) => {
    const policy = { heartbeatSeconds: 31_536_000, deviationBps: 100, minIntervalSeconds: 1, [name]: value };
    await use(`${name} ${value}`, { feeds: [{ dataset, keys: [spotPriceKey("BTC-USD")], ...policy }] });
  });

  test.each(endsUnder("/").filter(([name]) => !name.toLowerCase().endsWith("port")))("%s %s", async (name, value) => {
    await use(`${name} ${value}`, {}, { [name]: value });
  });

  test("no warning of Node about a timer", () => {
    expect(warnings.filter((name) => name.startsWith("Timeout"))).toEqual([]);
  });

  test("the longest base path", async () => {
    const basePath = TEXTS["/basePath"]?.(OperatorConfig.properties.basePath.maxLength as number) ?? "";
    const operator = await startOperator([{ chain, datasets: [dataset], providers }], { basePath });
    expect(await operator.ask(body(spotPriceKey("ETH-USD"), false))).toMatchObject({ status: "OK" });
    await operator.close();
  });
});

describe("the length of a text or a list", () => {
  const file = join(mkdtempSync(join(tmpdir(), "operator-")), "operator.json");
  const address = (index: number) => numberToHex(index + 1, { size: 20 });
  const key = (index: number) => spotPriceKey(`KEY${index}-USD`);
  const policy = { heartbeatSeconds: 60, deviationBps: 50, minIntervalSeconds: 10 };
  const network = (index: number) => ({
    ...{ networkId: index + 1, rpcUrls: [chain.url], datasets: [address(0)], members: [address(0)] },
    ...{ providers: [{ address: address(0), url: "http://a" }] },
    feeds: [{ dataset: address(0), keys: [key(0)], ...policy }],
  });
  /** The items of lists, by their paths. */
  const items: Readonly<Record<string, (index: number) => unknown>> = {
    "/networks": network,
    "/networks/*/rpcUrls": () => chain.url,
    "/networks/*/datasets": address,
    "/networks/*/members": address,
    "/networks/*/feeds/*/keys": key,
  };
  const made = (path: string, length: number) =>
    items[path] === undefined
      ? (TEXTS[path]?.(length) ?? "a".repeat(length))
      : Array.from({ length }, (_, index) => items[path]?.(index));
  const load = (path: string, length: number) => {
    writeFileSync(file, JSON.stringify(withSetting({ networks: [network(0)] }, path, made(path, length))));
    return loadOperatorConfig(file, {});
  };

  test.each(BOUNDS.filter(({ of, least, most }) => of !== "number" && (least ?? most) !== undefined))(
    "$path: from $least to $most, and no more or less",
    async ({ path, least, most }) => {
      for (const end of [least, most]) if (end !== undefined) await load(path, end);
      for (const beyond of [(least ?? 0) - 1, (most ?? Number.POSITIVE_INFINITY) + 1]) {
        if (beyond < 0 || beyond === Number.POSITIVE_INFINITY) continue;
        const refusal = load(path, beyond);
        await expect(refusal).rejects.toThrow(ConfigError);
        await expect(refusal).rejects.toThrow(`${path.replaceAll("*", "0")}: must`);
      }
    },
  );
});
