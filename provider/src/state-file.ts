import { once } from "node:events";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { dirname, relative } from "node:path";
import { ConfigError, loadConfig } from "@dataset-oracle/service/config";
import { Type } from "@sinclair/typebox";
import { MAX_AHEAD } from "./window.js";

const State = Type.Object(
  { signedThrough: Type.Integer({ minimum: 0, maximum: 2 ** 41 }) },
  { additionalProperties: false },
);

/**
 * The last round that may have been signed, on disk, so that no later life signs a round again: not after a crash, and
 * not with the clock set back. It is written before a round beyond it is signed, as the last round that can be signed
 * in this second of the clock. So it is written once a second at most, and only while new rounds are asked for; and it
 * is never further ahead than what a restarted provider must keep away from anyway (`MAX_AHEAD`).
 *
 * One process has it at a time.
 */
export class StateFile {
  readonly #path: string;
  readonly #lock: Lock;
  #signedThrough: bigint;

  private constructor(path: string, lock: Lock, signedThrough: bigint) {
    this.#path = path;
    this.#lock = lock;
    this.#signedThrough = signedThrough;
  }

  /**
   * Takes a state file, or makes it. No round through its mark may be signed in this life.
   *
   * @param now The clock, in whole seconds since 1970.
   * @throws ConfigError when it cannot be read or written, or another process has it.
   */
  static async open(path: string, now: bigint): Promise<StateFile> {
    const lock = await takeLock(path);
    try {
      const state = new StateFile(path, lock, readStateFile(path));
      const start = now + MAX_AHEAD;
      if (state.#signedThrough < start) state.#signedThrough = start;
      state.#write();
      return state;
    } catch (error) {
      lock.server.close();
      throw error instanceof ConfigError ? error : unusable(path, error);
    }
  }

  /** The last round that may have been signed. */
  get signedThrough(): bigint {
    return this.#signedThrough;
  }

  /**
   * Call it before a round is signed that can be signed now.
   *
   * @throws When it cannot be written: then nothing may be signed.
   */
  coverBefore(round: bigint, now: bigint): void {
    if (round <= this.#signedThrough) return;
    const before = this.#signedThrough;
    this.#signedThrough = now + MAX_AHEAD;
    try {
      this.#write();
    } catch (error) {
      this.#signedThrough = before;
      throw error;
    }
  }

  close(): void {
    this.#lock.server.close();
  }

  #write(): void {
    if (inodeOf(this.#lock.path) !== this.#lock.inode) throw new Error(`${this.#lock.path} is not this process's.`);
    const fresh = `${this.#path}.new`;
    writeFileSync(fresh, `${JSON.stringify({ signedThrough: Number(this.#signedThrough) })}\n`, { flush: true });
    renameSync(fresh, this.#path);
    const folder = openSync(dirname(this.#path), "r");
    fsyncSync(folder);
    closeSync(folder);
  }
}

/**
 * The mark of a state file; 0 when there is none yet.
 *
 * @throws ConfigError when it cannot be read, or not be written beside.
 */
export function readStateFile(path: string): bigint {
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw unusable(path, error);
  }
  return existsSync(path) ? BigInt(loadConfig(path, State).signedThrough) : 0n;
}

const unusable = (path: string, error: unknown) =>
  new ConfigError(`stateFile: ${path} cannot be used: ${(error as NodeJS.ErrnoException).code}.`);

interface Lock {
  readonly server: Server;
  readonly path: string;
  readonly inode: number | undefined;
}

/**
 * Listens at a socket file beside the state file: the system ends that with the process, however it dies.
 */
async function takeLock(stateFile: string): Promise<Lock> {
  const absolute = `${stateFile}.lock`;
  // The path of a socket has about a hundred bytes at most.
  const fromHere = relative("", absolute);
  const path = fromHere.length < absolute.length ? fromHere : absolute;
  const server = createServer((socket) => socket.destroy()).unref();
  try {
    // What nobody listens at, a process that was killed has left.
    if (existsSync(path) && !(await isListenedAt(path))) rmSync(path, { force: true });
    await once(server.listen(path), "listening");
    // Of two that start at the same moment each could remove what the other made: the loser sees it when it writes.
    return { server, path, inode: inodeOf(path) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw unusable(absolute, error);
    throw new ConfigError(`stateFile: another process uses ${stateFile}. End it, or give each its own.`);
  }
}

async function isListenedAt(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return !["ECONNREFUSED", "ENOENT"].includes(code);
  } finally {
    socket.destroy();
  }
}

const inodeOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.ino;
