import { expect, it } from "vitest";
import { Recent } from "./recent.js";

it("makes a thing once, however often and at whatever time it is asked for", async () => {
  const recent = new Recent<string>(10);
  let made = 0;
  const make = async () => `made ${++made}`;
  const both = [recent.getOrMake("a", make), recent.getOrMake("a", make)];
  expect(await Promise.all(both)).toEqual(["made 1", "made 1"]);
  expect(await recent.get("a")).toBe("made 1");
  expect(recent.get("b")).toBeUndefined();
});

it("lets the oldest give way", async () => {
  const recent = new Recent<string>(2);
  for (const id of ["a", "b", "c"]) await recent.getOrMake(id, async () => id);
  expect(recent.get("a")).toBeUndefined();
  expect(await recent.get("b")).toBe("b");
  expect(await recent.get("c")).toBe("c");
});

it("does not keep what failed, and is not shaken by one that fails after it gave way", async () => {
  const recent = new Recent<string>(1);
  let fail: (reason: Error) => void = () => {};
  const failing = recent.getOrMake("a", () => new Promise((_, reject) => (fail = reject)));
  await recent.getOrMake("b", async () => "b");
  const again = recent.getOrMake("a", async () => "second");
  fail(new Error("late"));
  await expect(failing).rejects.toThrow("late");
  expect(await recent.get("a")).toBe(await again);
  await expect(recent.getOrMake("c", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(recent.get("c")).toBeUndefined();
});
