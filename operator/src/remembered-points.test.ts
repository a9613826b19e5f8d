import { expect, test } from "vitest";
import { RememberedKeys } from "./remembered-points.js";

test("remembers a key for as long as it is told, and anew when it is found out again", () => {
  let now = 0;
  const keys = new RememberedKeys(() => now, 1_000, 10);
  keys.add("a");
  expect([keys.has("a"), keys.has("b")]).toEqual([true, false]);
  now = 999;
  expect(keys.has("a")).toBe(true);
  now = 1_000;
  expect(keys.has("a")).toBe(false);
  keys.add("a");
  now = 1_999;
  expect(keys.has("a")).toBe(true);
});

test("remembers so many at most: the oldest goes", () => {
  const keys = new RememberedKeys(() => 0, 1_000, 2);
  for (const id of ["a", "b", "a", "c"]) keys.add(id);
  expect(["a", "b", "c"].map((id) => keys.has(id))).toEqual([true, false, true]);
});
