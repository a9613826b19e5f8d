import { readdirSync, readFileSync } from "node:fs";
import { ok } from "@dataset-oracle/protocol/result";
import { numberToHex } from "viem";
import { expect, test } from "vitest";
import { loadSpec } from "../src/cli/spec-file.js";
import { valueToText } from "../src/cli/value-text.js";
import { SourceReader } from "../src/source/source-reader.js";
import { EXTRACT_HERE } from "../src/web-oracle/extract-values.js";
import { readWebOracleValue } from "../src/web-oracle/read-web-oracle-value.js";
import type { WebOracleKey } from "../src/web-oracle/web-oracle-key-finder.js";
import recorded from "./recorded/cookbook.json" with { type: "json" };
import { contextAt } from "./support/test-context.js";

const at = (path: string) => new URL(`../../docs/${path}`, import.meta.url).pathname;

/** How an API is asked, and what it answers: in the format that it documents, with values that are made up. */
interface RecordedExchange {
  /** Method, path and query. */
  readonly asked: string;
  readonly body?: unknown;
  readonly answer: unknown;
}

interface Recipe {
  readonly args: readonly string[];
  /** One for each source. */
  readonly exchanges: readonly RecordedExchange[];
  /** As on chain: a number is scaled. */
  readonly value: string;
  /** An answer of the same API that gives no value. */
  readonly none: unknown;
}
const RECIPES: Readonly<Record<string, Recipe>> = recorded;

/** Reads the value that a recipe's spec has with these answers, one for each source, and what it asked. */
async function attempt(name: string, { args }: Recipe, answers: readonly unknown[]) {
  const asked: Omit<RecordedExchange, "answer">[] = [];
  const { compiled } = loadSpec(at(`cookbook/${name}.json`));
  const bound = compiled.bind(args);
  if (!bound.ok) throw new Error(bound.error);
  const requests = bound.value.sources.map(({ request }) => ({ ...request, rateLimit: null }));
  const fetchText = async ({
    method,
    url,
    body,
  }: {
    readonly method: string;
    readonly url: string;
    readonly body?: string;
  }) => {
    const { pathname, search } = new URL(url);
    asked.push({ asked: `${method} ${pathname}${search}`, ...(body !== undefined && { body: JSON.parse(body) }) });
    const text = JSON.stringify(answers[requests.findIndex((request) => request.url === url)]);
    return ok({ status: 200, contentType: "application/json", retryAfter: null, text });
  };
  const reader = new SourceReader(
    { fetchText },
    { fetchText },
    contextAt(() => 1n),
    { timeoutMs: 5_000, hasReserve: false },
  );
  const key = { kind: "web_oracle", name, compiled, request: bound.value, requests } as unknown as WebOracleKey;
  const value = await readWebOracleValue(key, { reader, caller: { id: "test", mayUseReserve: true } }, EXTRACT_HERE);
  return { asked, text: valueToText({ key, value, at: 1n }), hasValue: value.kind === "value", type: compiled.type };
}

test("the cookbook describes each recipe by its key", () => {
  const cookbook = readFileSync(at("Cookbook.md"), "utf8");
  const files = readdirSync(at("cookbook"));
  expect(files.toSorted()).toEqual(
    Object.keys(RECIPES)
      .map((name) => `${name}.json`)
      .toSorted(),
  );
  for (const file of files) {
    const { hash, compiled } = loadSpec(at(`cookbook/${file}`));
    const variables = compiled.spec.variables.map(({ name }) => `/<${name}>`).join("");
    expect(cookbook).toContain(`(cookbook/${file})`);
    expect(cookbook).toContain(`\`WEB/${hash.slice(2)}${variables}\``);
  }
});

test.each(Object.entries(RECIPES))("%s takes the value out of what its API answers", async (name, recipe) => {
  const { exchanges, value, none } = recipe;
  const { asked, text, hasValue, type } = await attempt(
    name,
    recipe,
    exchanges.map(({ answer }) => answer),
  );
  expect(hasValue, text).toBe(true);
  const shown = type === "uint" ? numberToHex(BigInt(value), { size: 32 }) : value;
  expect(text.split("\n").at(-1)).toContain(shown);
  expect(asked).toEqual(exchanges.map(({ answer: _, ...request }) => request));
  expect(
    (
      await attempt(
        name,
        recipe,
        exchanges.map(() => none),
      )
    ).hasValue,
  ).toBe(false);
});

test("two nodes that disagree on the block give no value", async () => {
  const recipe = RECIPES["ethereum-block"] as Recipe;
  const hash = `${recipe.value.slice(0, -1)}7`;
  const [answer] = recipe.exchanges.map(({ answer }) => answer);
  for (const other of [{ result: { hash } }, { result: null }]) {
    expect((await attempt("ethereum-block", recipe, [answer, other])).hasValue).toBe(false);
  }
});
