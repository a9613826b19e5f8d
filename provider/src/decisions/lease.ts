import { accessSync, constants, fstatSync, lstatSync, readdirSync, rmSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { MAX_ROUND_AHEAD } from "@dataset-oracle/protocol/signing-window";
import { ConfigError, ExitError, unwritable } from "@dataset-oracle/service/config/config-error";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import { type Context, secondsOf } from "@dataset-oracle/service/process/context";

/** How far ahead of a round the number is written, in seconds, so that one write serves the rounds of this time. */
const AHEAD = 5n;

/** The names of the files: sequence numbers, padded so that they sort as numbers. */
const NAME = /^\d{12}$/;
const MAX_SEQUENCE = 10 ** 12 - 1;

/** @throws ConfigError when no name is left: the provider never writes one that it would refuse at its next start. */
function nameOf(sequence: number, folder: string): string {
  if (sequence <= MAX_SEQUENCE) return String(sequence).padStart(12, "0");
  throw new ConfigError(
    `lease: ${folder} has the file ${MAX_SEQUENCE}, which no provider reaches, so there is no next one. Stop every ` +
      "process with this key, remove the file, and wait 30 s.",
  );
}

/**
 * The exit code of a process that has lost its lease to another one. A supervisor must not start it again: two supervised
 * processes would take the lease from each other for ever.
 */
const LEASE_TAKEN = 3;

/** How often a process that is asked for nothing looks whether its lease is still there, in milliseconds. */
const LOOK_MS = 1_000;

/** Why a process must not sign new rounds now: the lease is not taken yet, cannot be written, or was lost for good. */
export type LeaseProblem = "starting" | "unwritable" | "lost";

/**
 * The right of one process to sign rounds up to `signedThrough`, the one number that the provider keeps on disk. It is
 * later than every round that was ever signed, so after a crash, or with the clock set back, nothing is signed twice.
 *
 * Each write creates the file with the next sequence number in the folder, which two processes cannot both do, and
 * removes the older ones. A process whose file is gone, or not the newest, has lost the lease for good. It keeps the
 * file open, so that it cannot mistake a new file of the same name for its own.
 */
export class Lease {
  #writing: Promise<boolean> | null = null;
  #problem: LeaseProblem | null = "starting";
  #own: OwnFile | null = null;
  /** The file that it creates, or created last. */
  #created: OwnFile | null = null;
  /** The sequence number of the last attempt to write. */
  #sequence = 0;
  #signedThrough = 0n;
  #refusedThrough = 0n;
  #looking: NodeJS.Timeout | undefined;
  #end: (exitCode: number) => void = () => {};

  /**
   * Touches nothing: nothing is permitted before the lease is taken.
   *
   * @param durations Observes how long each write took, in seconds.
   */
  constructor(
    private readonly context: Pick<Context, "clock" | "logger">,
    private readonly durations: { observe(seconds: number): void },
    private readonly folder: string,
  ) {}

  /** No round up to this one is signed, because a former process may have signed it. */
  get refusedThrough(): bigint {
    return this.#refusedThrough;
  }

  /** Why no new round can be signed now; null when nothing is known to prevent it. */
  get problem(): LeaseProblem | null {
    return this.#problem;
  }

  /**
   * Takes the lease over from a former process, whose number is kept if it is later than the start.
   *
   * @param end Called once the lease is lost, with the code that the process has to exit with.
   * @throws ExitError when the folder cannot be used, or another process takes the lease at the same time.
   */
  async take(end: (exitCode: number) => void = () => {}): Promise<void> {
    const { folder } = this;
    this.#end = end;
    checkLeaseFolder(folder);
    await mkdir(folder, { recursive: true }).catch((error) => {
      throw unusableFolder("lease", folder, error);
    });
    const isTaken = await this.#takeOver().catch((error) => {
      // Another process created this file, or left its own where it removed one that was listed.
      if (error.code === "EEXIST" || (error.code === "ENOENT" && this.#filesOfOthers().length > 0)) return false;
      throw error instanceof ExitError ? error : unusableFolder("lease", folder, error);
    });
    if (!isTaken) throw anotherStarted(folder);
  }

  /** Makes sure that a number later than the round is on disk. When that fails, `permits` is false. */
  async cover(round: bigint): Promise<void> {
    while (round > this.#signedThrough && this.#own !== null && this.#problem !== "lost") {
      this.#writing ??= this.#write(this.#own, round + AHEAD).finally(() => {
        this.#writing = null;
      });
      if (!(await this.#writing)) return;
    }
  }

  /** Tells whether a round may be signed at this moment. It looks for the file, because another process removes it. */
  permits(round: bigint): boolean {
    return round > this.#refusedThrough && round <= this.#signedThrough && this.#isHeld();
  }

  /** Frees the file. The lease remains on disk for the next process. */
  async close(): Promise<void> {
    clearInterval(this.#looking);
    await this.#writing;
    await this.#own?.handle.close();
  }

  /** Returns false when another process has written a later file meanwhile. */
  async #takeOver(): Promise<boolean> {
    const { folder } = this;
    const { clock, logger } = this.context;
    const names = await filesIn(folder);
    let through = secondsOf(clock) + MAX_ROUND_AHEAD;
    for (const name of names) {
      const number = await readNumber(join(folder, name));
      if (number === null) logger.warn(`The lease ${join(folder, name)} is damaged, and not used.`);
      else if (number > through) through = number;
    }
    this.#sequence = Number(names.at(-1) ?? 0) + 1;
    const name = nameOf(this.#sequence, folder);
    const start = clock.monotonic();
    const own = await this.#create(name, through);
    if (!(await isNewest(folder, name))) {
      await discard(own);
      return false;
    }
    await removeOlder(folder, name);
    // The folder may be new, from this start or one that was killed: else it could be lost as a whole with the power.
    await syncFolder(dirname(folder));
    this.durations.observe((clock.monotonic() - start) / 1_000);
    // A former process that still runs signed until its file was removed, just now.
    this.#refusedThrough = secondsOf(clock) + MAX_ROUND_AHEAD;
    if (this.#refusedThrough < through) this.#refusedThrough = through;
    this.#signedThrough = through;
    this.#own = own;
    this.#problem = null;
    this.#looking = setInterval(() => void this.#isHeld(), LOOK_MS).unref();
    return true;
  }

  #isHeld(): boolean {
    return this.#own !== null && this.#problem !== "lost" && (isThere(this.#own) || this.#lose());
  }

  async #write(former: OwnFile, through: bigint): Promise<boolean> {
    const { clock, logger } = this.context;
    // A file that is created now would stop the process that has taken the lease.
    if (!isThere(former)) return this.#lose();
    const start = clock.monotonic();
    try {
      // A failed attempt may have left a file, so its number is not used again.
      const name = nameOf(++this.#sequence, this.folder);
      const created = await this.#create(name, through);
      if (!((await isNewest(this.folder, name)) && isThere(former))) {
        // Lost before anything is awaited, because a request could be signed meanwhile.
        this.#lose();
        await discard(created);
        return false;
      }
      this.#own = created;
      await former.handle.close();
      this.#signedThrough = through;
      if (this.#problem !== null) logger.info("the lease can be written again");
      this.#problem = null;
      await removeOlder(this.folder, name);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EEXIST" || !isThere(this.#own ?? former)) return this.#lose();
      if (this.#problem === null)
        logger.error(
          `The lease in ${this.folder} cannot be written: ${code ?? message}. No new round is signed until it can. Free ` +
            "space on the disk, or mount it writable.",
        );
      this.#problem = "unwritable";
      return false;
    }
    this.durations.observe((clock.monotonic() - start) / 1_000);
    return true;
  }

  #lose(): false {
    if (this.#problem === "lost") return false;
    this.#problem = "lost";
    const isTaken = this.#filesOfOthers().length > 0;
    this.context.logger.error(
      isTaken
        ? `Another process has taken the lease in ${this.folder}. This one signs nothing more, and ends with ` +
            `${LEASE_TAKEN}, so that it is not started again. Run one process for each signing key.`
        : `The lease in ${this.folder} was removed. This process signs nothing more, and ends; the next one can take a new lease.`,
    );
    this.#end(isTaken ? LEASE_TAKEN : 1);
    return false;
  }

  /** Creates a file, which must not exist, and waits until it and its place in the folder are on disk. */
  async #create(name: string, through: bigint): Promise<OwnFile> {
    const path = join(this.folder, name);
    const own = { path, handle: await open(path, "wx", 0o600) };
    this.#created = own;
    try {
      await own.handle.writeFile(contentOf(through));
      await own.handle.sync();
      await syncFolder(this.folder);
      return own;
    } catch (error) {
      this.#created = null;
      // Otherwise every attempt on a full disk would leave a file.
      await discard(own);
      throw error;
    }
  }

  #filesOfOthers(): string[] {
    const own = [this.#own, this.#created].flatMap((one) => (one !== null && isThere(one) ? basename(one.path) : []));
    try {
      return readdirSync(this.folder).filter((name) => NAME.test(name) && !own.includes(name));
    } catch {
      return [];
    }
  }
}

/**
 * Checks the folder of a lease without writing to it: another process may be using it.
 *
 * @throws ExitError when it holds something else, or cannot be written.
 */
export function checkLeaseFolder(folder: string): void {
  try {
    // The parent must exist and is never created: if it is missing, a disk may not be mounted.
    accessSync(dirname(folder), constants.R_OK | constants.W_OK);
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
    // A symbolic link to a folder that is not there fails here.
    accessSync(folder, constants.W_OK);
    // Reading anything but a file could wait forever, or lead out of the folder.
    const entries = readdirSync(folder, { withFileTypes: true });
    if (entries.every((entry) => NAME.test(entry.name) && entry.isFile())) return;
  } catch (error) {
    throw unusableFolder("lease", folder, error);
  }
  throw new ConfigError(
    `lease: ${folder} holds other files. Name a folder that does not exist yet, is empty, or holds a provider's lease.`,
  );
}

/** @param setting The setting that names the folder. */
export const unusableFolder = (setting: string, folder: string, error: unknown): ExitError => {
  const { code, message } = error as NodeJS.ErrnoException;
  return unwritable(
    `${setting}: ${folder} cannot be used: ${code ?? message}. Check that it is a folder that this process can create ` +
      "and write to. The parent folder of a lease must exist.",
    error,
  );
};

const anotherStarted = (folder: string) =>
  new ExitError(
    `lease: another process started with ${folder} at the same time. Each signing key needs one process, with its ` +
      "own folder.",
    LEASE_TAKEN,
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

/** Waits until what was created in a folder is on disk. */
async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, "r");
  await directory.sync().finally(() => directory.close());
}

/** Removes a file that this process created, unless the file is another one by now. */
async function discard(own: OwnFile): Promise<void> {
  try {
    if (isThere(own)) rmSync(own.path);
  } catch {
    // It stays, like one that a crash leaves, and the next write removes it.
  }
  await own.handle.close();
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
