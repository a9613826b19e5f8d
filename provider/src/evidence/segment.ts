import { createReadStream } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";

/**
 * The number of files that evidence is stored in, so that a start looks at no more. The oldest is removed as a whole.
 */
const SEGMENTS = 16;

/** One of the files. Its lines are appended and never changed. */
export interface Segment {
  readonly path: string;
  /** Larger than that of every segment that was begun before; 0 when there is no file. */
  sequence: number;
  /** What it takes on the disk. */
  bytes: number;
}

/** Looks at a folder's segments by their names. Whatever else is in the folder costs nothing. */
export const segmentsIn = (folder: string): Promise<Segment[]> =>
  Promise.all(Array.from({ length: SEGMENTS }, (_, i) => lookAt(join(folder, `${String(i).padStart(2, "0")}.jsonl`))));

async function lookAt(path: string): Promise<Segment> {
  const bytes = await bytesOf(path);
  if (bytes === 0) return { path, sequence: 0, bytes };
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    const [, sequence = 0] = /^\{"segment":(\d{1,15})\}/.exec(buffer.toString("latin1", 0, bytesRead)) ?? [];
    return { path, sequence: Number(sequence), bytes };
  } finally {
    await file.close();
  }
}

/**
 * Returns what a file takes on the disk; 0 when there is none.
 *
 * @throws When it is something else: opening a pipe would wait forever, and a link could lead out of the folder.
 */
export async function bytesOf(path: string): Promise<number> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return 0;
  if (!found.isFile()) throw new Error(`${path} is not a file. Remove it`);
  // Some file systems count the blocks only seconds after the file was written.
  return Math.max(found.blocks * 512, found.size);
}

/** The first line of a segment. */
export const headerOf = ({ sequence }: Segment): string => JSON.stringify({ segment: sequence });

/** A line as it is read: a spec or an answer, or a decision's record, which follows all of its texts. */
export type Line =
  | { readonly hash: string; readonly place: Place }
  | { readonly record: Readonly<Record<string, unknown>> };

/** Where a line is, in bytes. */
export interface Place {
  readonly start: number;
  readonly length: number;
}

/** The line of a spec or an answer. */
export const textLine = (hash: string, compressed: Buffer): string =>
  JSON.stringify({ sha256: hash, gzip: compressed.toString("base64") });

/** Reads a segment. Lines that a crash or a full disk has cut are left out. */
export async function* linesOf(file: string): AsyncGenerator<Line> {
  let start = 0;
  for await (const line of splitAtNewlines(file)) {
    const place = { start, length: line.length };
    start += line.length + 1;
    const parsed = parseLine(line);
    if (parsed === null || typeof parsed.segment === "number") continue;
    yield typeof parsed.sha256 === "string" ? { hash: parsed.sha256, place } : { record: parsed };
  }
}

/** Reads the compressed text that is at a place of a segment. */
export async function readCompressed(file: string, { start, length }: Place): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, start);
    return Buffer.from(String(parseLine(buffer)?.gzip), "base64");
  } finally {
    await handle.close();
  }
}

async function* splitAtNewlines(file: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]);
      parts = [];
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
  }
  yield Buffer.concat(parts);
}

function parseLine(line: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(line.toString("utf8"));
    return typeof parsed === "object" ? (parsed as Readonly<Record<string, unknown>> | null) : null;
  } catch {
    return null;
  }
}
