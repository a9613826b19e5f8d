import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ok } from "@dataset-oracle/protocol/result";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { ServedDataset, ServedKey } from "../served-keys.js";
import { EvidenceStore } from "./evidence-store.js";

const KEY = "0x01";
const key = { kind: "spot_price", key: KEY, sources: [] } as unknown as ServedKey;
const dataset = {
  kind: "median",
  chainId: 42,
  address: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
} as unknown as ServedDataset;

/** Stores one decision of a minute, whose source answered with a text. */
async function keep(store: EvidenceStore, at: bigint, text: string): Promise<void> {
  const request = { method: "GET", url: "https://exchange.example/", rateLimit: null } as const;
  const answers = new Map([[text, { request, reading: Promise.resolve(ok({ text })) }]]);
  const value = { kind: "none", reason: "", sources: [] } as const;
  store.keep({ dataPoint: { id: "", dataset, key }, value, at, answers }, at, {
    outcome: "OK",
    value: `0x${"00".repeat(32)}`,
  });
  await store.close();
}

const textOf = () => randomBytes(1_500).toString("hex").slice(0, 2_000);

const open = (folder: string, maxBytes: number, logs: string[] = []) =>
  EvidenceStore.open({
    folder,
    maxBytes,
    policy: { minSources: 3, maxDeviationBps: 100, maxQuoteAge: 60 },
    redirectedOrigins: {},
    logger: pino({}, { write: (line: string) => void logs.push(line) }),
  });

test("of the minutes that a former process stored, the newest that fit are kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  for (const minute of ["60", "120", "180"]) {
    mkdirSync(join(folder, minute));
    writeFileSync(join(folder, minute, "old.gz"), Buffer.alloc(2_500));
  }
  await keep(await open(folder, 8_000), 240n, textOf());
  expect(readdirSync(folder).toSorted()).toEqual(["120", "180", "240"]);
});

test("evidence that cannot be written is logged, and does not prevent signing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  const logs: string[] = [];
  const store = await open(folder, 1, logs);
  writeFileSync(join(folder, "60"), "no folder");
  await keep(store, 60n, "");
  expect(logs.join()).toContain("evidence not written");
});

test("a late decision of a removed minute is stored whole, and removes no newer minute", async () => {
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  const store = await open(folder, 8_000);
  const [first, second, third, fourth] = [textOf(), textOf(), textOf(), textOf()];
  /** Returns the texts that the record of a round names, or null when there is no record. */
  function textsAt(round: bigint): string[] | null {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const file = files.find((name) => name.includes(`/${round}-`));
    if (file === undefined) return null;
    const { answers } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return answers.map(({ text }: { text: string }) =>
      gunzipSync(readFileSync(join(folder, file, "..", `${text}.gz`))).toString("utf8"),
    );
  }

  // A decision and its compressed text have about 1,900 bytes, so that the fifth removes the first minute.
  await keep(store, 60n, first);
  await keep(store, 61n, second);
  await keep(store, 62n, third);
  await keep(store, 120n, fourth);
  await keep(store, 121n, second);
  await keep(store, 122n, third);
  expect(textsAt(60n)).toBeNull();
  expect(textsAt(120n)).toEqual([fourth]);

  await keep(store, 63n, first);
  expect(textsAt(63n)).toEqual([first]);
  for (let at = 123n; at < 126n; at++) await keep(store, at, textOf());
  expect(textsAt(63n)).toBeNull();
  expect(textsAt(122n)).toEqual([third]);
  expect(textsAt(120n)).toEqual([fourth]);
});
