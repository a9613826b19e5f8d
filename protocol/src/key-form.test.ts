import { describe, expect, test } from "vitest";
import vectors from "../vectors/keys.json" with { type: "json" };
import { KEY_FORMS, matchesKeyForm } from "./key-form.js";

describe("matchesKeyForm", () => {
  test.each(vectors.forms)("decides $name as the contract does", (vector) => {
    for (const form of KEY_FORMS) expect(matchesKeyForm(form, vector.key as `0x${string}`)).toBe(vector[form]);
  });
});
