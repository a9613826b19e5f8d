import { stringToHex } from "viem";
import { expect, test } from "vitest";
import { describeSpec } from "./describe-spec.js";

const describeWithUnit = (unit: unknown) => {
  const spec = { title: "Debt", variables: [], unit, sources: [{ url: "https://debt.example", type: "uint" }] };
  return describeSpec(stringToHex(JSON.stringify(spec)));
};

test("a spec's unit says how its numbers are scaled, whatever scale its sources have", () => {
  expect(describeWithUnit({ symbol: "USD", decimals: 2 })?.format).toMatchObject({ decimals: 2, unit: "USD" });
});

test("a spec whose unit could mislead readers is treated as not understood", () => {
  expect(describeWithUnit({ symbol: "\u202edsu", decimals: 2 })).toBeNull();
});
