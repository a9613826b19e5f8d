import { accessSync, constants, existsSync, fstatSync, readdirSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MAX_ROUND_AHEAD } from "@dataset-oracle/protocol/signing-window";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { Logger } from "pino";

/** How far ahead of a round the number is written, in seconds, so that one write serves the rounds of this time. */
const AHEAD = 5n;

/** The names of the files: sequence numbers, padded so that they sort as numbers. */
const NAME = /^\d{12}$/;
const nameOf = (sequence: number) => String(sequence).padStart(12, "0");

interface LeaseOptions {
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  readonly logger: Logger;
  /** Called after each write with its duration in seconds. */
  readonly onWrite?: (seconds: number) => void;
}

/** Why a process must not sign new rounds now: the number cannot be written, or another process took the lease. */
export type LeaseProblem = "unwritable" | "lost";

/**
 * The right of one process to sign rounds up to `signedThrough`, the one number that the provider keeps on disk. It is
 * later than every round that was ever signed, so after a crash, or with the clock set back, nothing is signed twice.
 *
 * Each write creates the file with the next sequence number in the folder, which two processes cannot both do, and
 * removes the older ones. A process whose file is gone, or not the newest, has lost the lease to another one for good.
 * It keeps the file open, so that it cannot mistake a new file of the same name for its own.
 */
export class Lease {
  #writing: Promise<boolean> | null = null;
  #problem: LeaseProblem | null = null;

  private constructor(
    private readonly folder: string,
    private readonly options: LeaseOptions,
    /** No round up to this one is signed, because a former process may have signed it. */
    readonly refusedThrough: bigint,
    /** The sequence number of the last attempt to write. */
    private sequence: number,
    private own: OwnFile,
    private signedThrough: bigint,
  ) {}

  /**
   * Takes the lease over from a former process, whose number is kept if it is later than the start.
   *
   * @throws ConfigError when the folder cannot be used, or another process takes the lease at the same time.
   */
  static async take(folder: string, options: LeaseOptions): Promise<Lease> {
    checkLeaseFolder(folder);
    const { now, logger, onWrite } = options;
    try {
      await mkdir(folder, { recursive: true });
      const names = await filesIn(folder);
      let through = now() + MAX_ROUND_AHEAD;
      for (const name of names) {
        const number = await readNumber(join(folder, name));
        if (number === null) logger.warn(`The lease ${join(folder, name)} is damaged, and not used.`);
        else if (number > through) through = number;
      }
      const sequence = Number(names.at(-1) ?? 0) + 1;
      const name = nameOf(sequence);
      const start = performance.now();
      const own = await create(folder, name, through);
      if (!(await isNewest(folder, name))) {
        await own.handle.close();
        throw anotherStarted(folder);
      }
      await removeOlder(folder, name);
      onWrite?.((performance.now() - start) / 1_000);
      // A former process that still runs signed until its file was removed, just now.
      let refusedThrough = now() + MAX_ROUND_AHEAD;
      if (refusedThrough < through) refusedThrough = through;
      return new Lease(folder, options, refusedThrough, sequence, own, through);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process created this file, or removed one that was listed.
      if (code === "EEXIST" || code === "ENOENT") throw anotherStarted(folder);
      throw error instanceof ConfigError ? error : unusableFolder("lease", folder, error);
    }
  }

  /** Why no new round can be signed now; null when nothing is known to prevent it. */
  get problem(): LeaseProblem | null {
    return this.#problem;
  }

  /** Makes sure that a number later than the round is on disk. When that fails, `permits` is false. */
  async cover(round: bigint): Promise<void> {
    while (round > this.signedThrough && this.#problem !== "lost") {
      this.#writing ??= this.#write(round + AHEAD).finally(() => {
        this.#writing = null;
      });
      if (!(await this.#writing)) return;
    }
  }

  /** Tells whether a round may be signed at this moment. It looks for the file, because another process removes it. */
  permits(round: bigint): boolean {
    if (round <= this.refusedThrough || round > this.signedThrough || this.#problem === "lost") return false;
    return isThere(this.own) || this.#lose();
  }

  /** Frees the file. The lease remains on disk for the next process. */
  async close(): Promise<void> {
    await this.#writing;
    await this.own.handle.close();
  }

  async #write(through: bigint): Promise<boolean> {
    const start = performance.now();
    // A failed attempt may have left a file, so its number is not used again.
    this.sequence += 1;
    const name = nameOf(this.sequence);
    try {
      const created = await create(this.folder, name, through);
      const [isHeld, former] = [(await isNewest(this.folder, name)) && isThere(this.own), this.own];
      this.own = created;
      await former.handle.close();
      if (!isHeld) return this.#lose();
      this.signedThrough = through;
      if (this.#problem !== null) this.options.logger.info("the lease can be written again");
      this.#problem = null;
      await removeOlder(this.folder, name);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EEXIST" || !isThere(this.own)) return this.#lose();
      if (this.#problem === null)
        this.options.logger.error(
          `The lease in ${this.folder} cannot be written: ${code ?? message}. No new round is signed until it can. Free ` +
            "space on the disk, or mount it writable.",
        );
      this.#problem = "unwritable";
      return false;
    }
    this.options.onWrite?.((performance.now() - start) / 1_000);
    return true;
  }

  #lose(): false {
    this.options.logger.error(
      `Another process has taken the lease in ${this.folder}, or its files were removed. This process signs no new ` +
        "round any more. Run one process for each signing key, and restart that one.",
    );
    this.#problem = "lost";
    return false;
  }
}

/**
 * Checks the folder of a lease without writing to it: another process may be using it.
 *
 * @throws ConfigError when it holds something else, or cannot be written.
 */
export function checkLeaseFolder(folder: string): void {
  try {
    // The parent must exist and is never created: if it is missing, a disk may not be mounted.
    accessSync(dirname(folder), constants.W_OK);
    if (!existsSync(folder)) return;
    accessSync(folder, constants.W_OK);
    if (readdirSync(folder).every((name) => NAME.test(name))) return;
  } catch (error) {
    throw unusableFolder("lease", folder, error);
  }
  throw new ConfigError(
    `lease: ${folder} holds other files. Name a folder that does not exist yet, is empty, or holds a provider's lease.`,
  );
}

/** @param setting The setting that names the folder. */
export const unusableFolder = (setting: string, folder: string, error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException;
  return new ConfigError(
    `${setting}: ${folder} cannot be used: ${code ?? message}. Check that it is a folder that this process can create ` +
      "and write to. The parent folder of a lease must exist.",
  );
};

const anotherStarted = (folder: string) =>
  new ConfigError(
    `lease: another process started with ${folder} at the same time. Each signing key needs one process, with its ` +
      "own folder.",
  );

const filesIn = async (folder: string) => (await readdir(folder)).filter((name) => NAME.test(name)).sort();

const isNewest = async (folder: string, name: string) => (await filesIn(folder)).at(-1) === name;

/** The newest file of this process. */
interface OwnFile {
  readonly path: string;
  /** Open, so that the file's inode is not used again. */
  readonly handle: FileHandle;
}

function isThere({ path, handle }: OwnFile): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  const own = fstatSync(handle.fd);
  return found?.ino === own.ino && found.dev === own.dev;
}

/** Creates a file, which must not exist, and waits until it and its place in the folder are on disk. */
async function create(folder: string, name: string, through: bigint): Promise<OwnFile> {
  const path = join(folder, name);
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(contentOf(through));
    await handle.sync();
    const directory = await open(folder, "r");
    await directory.sync().finally(() => directory.close());
    return { path, handle };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function removeOlder(folder: string, name: string): Promise<void> {
  const older = (await filesIn(folder)).filter((other) => other < name);
  await Promise.all(older.map((other) => rm(join(folder, other), { force: true })));
}

/** The checksum makes a damaged number unreadable, rather than a date in the far future. */
const contentOf = (through: bigint) => `${through} ${sha256(String(through)).slice(0, 16)}\n`;

/** Returns the number in a file; null when it is damaged. */
async function readNumber(path: string): Promise<bigint | null> {
  const text = await readFile(path, "latin1");
  const digits = /\d{1,15}/.exec(text)?.[0];
  return digits !== undefined && text === contentOf(BigInt(digits)) ? BigInt(digits) : null;
}
