import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EvidenceRecord } from "@dataset-oracle/protocol/http-schemas/evidence";
import { type Replay, replay } from "../../src/evidence/replay.js";

/** Lists the segments in a folder and the folders within it. */
export const segmentsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(folder, name));

const linesIn = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .map((text) => JSON.parse(text));

/** Lists the records in a folder, with their segments, those of one segment in the order of their decisions. */
export const recordsIn = (folder: string): { file: string; record: EvidenceRecord }[] =>
  segmentsIn(folder).flatMap((file) =>
    linesIn(file)
      .filter((line) => line.version === 1)
      .map((record) => ({ file, record })),
  );

/** Writes a segment whose lines are changed; null removes one. */
export function writeChanged(
  file: string,
  from: string,
  change: (line: Record<string, unknown>) => object | null,
): void {
  const lines = from.split("\n").map((text) => change(JSON.parse(text)));
  writeFileSync(file, lines.flatMap((line) => (line === null ? [] : [JSON.stringify(line)])).join("\n"));
}

/** Computes all decisions of segments again. */
export async function replayAll(...files: string[]): Promise<Replay[]> {
  const all: Replay[] = [];
  for (const file of files) for await (const one of replay(file)) all.push(one);
  return all;
}
