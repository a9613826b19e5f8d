import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { Batcher } from "./batcher.js";

/** Returns a batcher of at most three items, whose batches end when they are told to. */
function start() {
  const batches: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const batcher = new Batcher<number>(3, (items) => {
    batches.push(items);
    return new Promise((end) => ends.push(end));
  });
  return { batcher, batches, ends };
}

test("items of the same moment are one batch, and a lone item is not delayed", async () => {
  const { batcher, batches } = start();
  batcher.add(1);
  batcher.add(2);
  await null;
  expect(batches).toEqual([[1, 2]]);
});

test("while a batch is being handled, items wait for others; afterwards, none waits", async () => {
  const { batcher, batches, ends } = start();
  batcher.add(1);
  await null;
  batcher.add(2);
  await null;
  expect(batches).toEqual([[1]]);
  batcher.add(3);
  await expect.poll(() => batches).toEqual([[1], [2, 3]]);
  for (const end of ends) end();
  await delay(0);
  batcher.add(4);
  await null;
  expect(batches.at(-1)).toEqual([4]);
});

test("more items than a batch holds are several batches", async () => {
  const { batcher, batches } = start();
  for (const item of [1, 2, 3, 4]) batcher.add(item);
  await null;
  expect(batches).toEqual([[1, 2, 3], [4]]);
});
