import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { decodeNumbers, encodeNumbers } from "./stored-records.js";

/** A write of decisions: its number, and the last round that was ever decided. */
export interface Write {
  readonly number: bigint;
  readonly lastRound: bigint;
}

/** Longer than a record can be. The rest is filled with spaces, so that each record replaces all of the last one. */
const LENGTH = 96;

/**
 * Remembers the last write in a file beside LevelDB's own files. LevelDB drops what it cannot read at the end of its
 * log, and nothing in the database then shows that there was more.
 *
 * The file is not forced to disk: its content survives the end of the process, and after a power failure it is at worst
 * out of date, which is detected.
 */
export class LastWriteFile {
  readonly #file: number;

  /** @throws When the file cannot be opened, or is a symbolic link. */
  constructor(folder: string) {
    const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
    this.#file = openSync(join(folder, "last-write"), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  }

  /** Returns the last write; null when it is unknown. */
  read(): Write | null {
    const bytes = Buffer.alloc(LENGTH);
    const length = readSync(this.#file, bytes, 0, LENGTH, 0);
    const [number, lastRound] = decodeNumbers(bytes.toString("latin1", 0, length).trim(), 2) ?? [];
    return number === undefined || lastRound === undefined ? null : { number, lastRound };
  }

  /** @throws When it cannot be written. */
  write({ number, lastRound }: Write): void {
    const bytes = Buffer.from(encodeNumbers(number, lastRound).padEnd(LENGTH));
    // A write can be short, on a full disk, without an error.
    const written = writeSync(this.#file, bytes, 0, LENGTH, 0);
    if (written !== LENGTH)
      throw new Error(`last-write: only ${written} of ${LENGTH} bytes were written; the disk may be full`);
  }

  close(): void {
    closeSync(this.#file);
  }
}
