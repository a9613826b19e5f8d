import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { findLeakedSecrets } from "./find-leaked-secrets.js";

const KEY = `0x${randomBytes(32).toString("hex")}`;
const TOKEN = `${randomBytes(12).toString("hex")}+/%`;
const secrets = { KEY, TOKEN: encodeURIComponent(TOKEN) };
const bytes = Buffer.from(KEY.slice(2), "hex");

const shown: [form: string, text: string][] = [
  ["as it is", KEY],
  ["without 0x", KEY.slice(2)],
  ["in capitals", KEY.slice(2).toUpperCase()],
  ["in part", KEY.slice(20, 34)],
  ["as bytes in base64", bytes.toString("base64")],
  ["as bytes in base64url", bytes.toString("base64url")],
  ["as text in base64", Buffer.from(KEY).toString("base64")],
  ["in base64 behind something", Buffer.from(`user:${KEY}@`).toString("base64")],
  ["as hex of its text", Buffer.from(KEY).toString("hex")],
  ["decoded", TOKEN],
  ["encoded", encodeURIComponent(TOKEN)],
];

test.each(shown)("a secret is found %s", (_, text) => {
  expect(findLeakedSecrets(`{"msg":"${text}"}`, secrets)).toHaveLength(1);
});

test("nothing is found in a text without a secret", () => {
  const other = randomBytes(2_000);
  for (const text of ["", other.toString("hex"), other.toString("base64"), KEY.slice(0, 11)]) {
    expect(findLeakedSecrets(text, secrets)).toEqual([]);
  }
});
