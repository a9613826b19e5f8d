import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startProcess } from "./start-process.js";

test("a program that cannot be run is an error for whoever starts it, and no other", async () => {
  const unhandled: unknown[] = [];
  const remember = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", remember);
  const start = startProcess({
    name: "missing",
    command: join(import.meta.dirname, "missing"),
    args: [],
    isReady: async () => false,
  });
  await expect(start).rejects.toThrow("ENOENT");
  await sleep(0);
  process.off("unhandledRejection", remember);
  expect(unhandled).toEqual([]);
});
