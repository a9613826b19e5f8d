import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { expect, test } from "vitest";
import { OperatorConfig } from "./config.js";

/** Every setting, by name. */
function settingsOf(schema: TSchema): [string, TSchema][] {
  if (KindGuard.IsArray(schema)) return settingsOf(schema.items);
  if (!KindGuard.IsObject(schema)) return [];
  return Object.entries(schema.properties).flatMap(([name, inner]) => [
    [name, inner] as [string, TSchema],
    ...settingsOf(inner),
  ]);
}

const README = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");

test.each(settingsOf(OperatorConfig))("%s is described in the schema and in the README", (name, schema) => {
  expect(schema.description).toEqual(expect.any(String));
  expect(README).toContain(`\`${name}\``);
});
