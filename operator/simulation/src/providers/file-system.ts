/**
 * Replaces the file system below the product: paths under `MOUNTS` lead to simulated disks, all others to Node's own
 * functions. This must be imported before any code of the product. Only what the provider's lease uses is here; anything
 * else finds no such path.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type Disk, DiskFile, DiskFolder } from "./disk.js";

const MOUNTS = "/simulated";

/** The process whose files these are. */
export interface FileUser {
  readonly id: string;
  readonly isAlive: boolean;
  readonly disk: Disk;
  /** How long the next operation takes, in milliseconds. */
  pause(): number;
  /** Makes an operation, unless the process is killed before or after it. @returns Null if it was killed. */
  operate<T>(name: string, act: () => T): { readonly result: T } | null;
}

const users = new Map<string, FileUser>();
const handles = new Map<number, Handle>();
/** Above all that Node gives. */
let descriptors = 1_000_000;

/** Gives a process its own path to its machine's disk, so that each operation shows whose it is. */
export function mount(user: FileUser): string {
  users.set(user.id, user);
  return join(MOUNTS, user.id);
}

const failure = (code: string, path: string) => Object.assign(new Error(`${code}: ${path}`), { code, path });

/** The files of one process. */
class Files {
  constructor(
    readonly user: FileUser,
    readonly path: string,
  ) {}

  /** Makes a synchronous operation. Nothing that a dead process does with its failure reaches anybody. */
  now<T>(act: () => T): T {
    if (!this.user.isAlive) throw new Error("This process is dead.");
    return act();
  }

  /** Makes an operation after some time. It never ends when the process dies. */
  later<T>(name: string, act: () => T): Promise<T> {
    const { user, path } = this;
    return new Promise((resolve, reject) => {
      setTimeout(() => {
        if (!user.isAlive) return;
        try {
          const done = user.operate(`${name} ${path}`, act);
          if (done !== null) resolve(done.result);
        } catch (error) {
          reject(error);
        }
      }, user.pause());
    });
  }

  get parent(): { readonly folder: DiskFolder; readonly name: string } {
    const names = this.path.split("/").filter((name) => name !== "");
    const name = names.pop() ?? ".";
    let folder: DiskFile | DiskFolder | undefined = this.user.disk.root;
    for (const one of names) folder = folder instanceof DiskFolder ? folder.entries.get(one) : undefined;
    if (!(folder instanceof DiskFolder)) throw failure("ENOENT", this.path);
    return { folder, name };
  }

  get entry(): DiskFile | DiskFolder | undefined {
    const { folder, name } = this.parent;
    return name === "." ? folder : folder.entries.get(name);
  }

  get required(): DiskFile | DiskFolder {
    const { entry } = this;
    if (entry === undefined) throw failure("ENOENT", this.path);
    return entry;
  }

  requireWritable(): void {
    if (this.user.disk.failure === "is read-only") throw failure("EROFS", this.path);
  }

  names(): string[] {
    const { required } = this;
    if (!(required instanceof DiskFolder)) throw failure("ENOTDIR", this.path);
    return [...required.entries.keys()];
  }

  stat(throwIfNoEntry = true): { readonly ino: number; readonly dev: number } | undefined {
    const { entry } = this;
    if (entry === undefined && throwIfNoEntry) throw failure("ENOENT", this.path);
    return entry && { ino: entry.ino, dev: 1 };
  }

  remove({ force = false } = {}): void {
    const { folder, name } = this.parent;
    if (!folder.entries.has(name)) {
      if (force) return;
      throw failure("ENOENT", this.path);
    }
    this.requireWritable();
    folder.set(name, null);
  }

  /** @param flags As Node's. */
  open(flags: string): Handle {
    if (flags === "r") return new Handle(this, this.required);
    this.requireWritable();
    const { folder, name } = this.parent;
    const known = folder.entries.get(name);
    if (flags === "wx" && known !== undefined) throw failure("EEXIST", this.path);
    if (known instanceof DiskFile) {
      known.data = "";
      return new Handle(this, known);
    }
    const created = new DiskFile();
    folder.set(name, created);
    return new Handle(this, created);
  }
}

/** An open file or folder. */
class Handle {
  readonly fd = ++descriptors;

  constructor(
    private readonly files: Files,
    readonly entry: DiskFile | DiskFolder,
  ) {
    handles.set(this.fd, this);
  }

  writeFile(data: string): Promise<void> {
    const { files, entry } = this;
    return files.later("write", () => {
      if (!(entry instanceof DiskFile)) throw failure("EBADF", files.path);
      files.requireWritable();
      if (files.user.disk.failure === "is full") {
        entry.data = data.slice(0, data.length / 2);
        throw failure("ENOSPC", files.path);
      }
      entry.data = data;
    });
  }

  sync(): Promise<void> {
    return this.files.later("sync", () => {
      if (this.files.user.disk.failure === "does not sync") throw failure("EIO", this.files.path);
      this.entry.sync();
    });
  }

  close(): Promise<void> {
    return this.files.later("close", () => void handles.delete(this.fd));
  }
}

type FileCall = (...given: never[]) => unknown;

/** Replaces one of Node's functions for the paths of simulated disks. */
function replace(functions: object, name: string, call: (files: Files, ...given: never[]) => unknown): void {
  const own = functions as Record<string, FileCall>;
  const original = own[name] as FileCall;
  own[name] = (...given: never[]) => {
    const [path, ...others] = given as unknown as [unknown, ...never[]];
    const [, id = "", rest = ""] = /^\/simulated\/([^/]+)(.*)$/.exec(String(path)) ?? [];
    const user = users.get(id);
    return user === undefined ? original.apply(own, given) : call(new Files(user, rest), ...others);
  };
}

type FileOptions = { readonly throwIfNoEntry?: boolean; readonly withFileTypes?: boolean; readonly force?: boolean };

replace(fs, "accessSync", (files, mode: number) =>
  files.now(() => {
    if (mode & fs.constants.W_OK) files.requireWritable();
    return void files.required;
  }),
);
for (const name of ["statSync", "lstatSync"])
  replace(fs, name, (files, options?: FileOptions) => files.now(() => files.stat(options?.throwIfNoEntry)));
replace(fs, "readdirSync", (files, options?: FileOptions) =>
  files.now(() =>
    options?.withFileTypes ? files.names().map((name) => ({ name, isFile: () => true })) : files.names(),
  ),
);
replace(fs, "rmSync", (files, options?: FileOptions) => files.now(() => files.remove(options)));
replace(fs.promises, "mkdir", (files) =>
  files.later("make", () => {
    const { folder, name } = files.parent;
    if (folder.entries.has(name)) return undefined;
    files.requireWritable();
    folder.set(name, new DiskFolder());
    return join(MOUNTS, files.user.id, files.path);
  }),
);
replace(fs.promises, "open", (files, flags: string) => files.later(`open ${flags}`, () => files.open(flags)));
replace(fs.promises, "readdir", (files) => files.later("list", () => files.names()));
replace(fs.promises, "readFile", (files) =>
  files.later("read", () => {
    const { required } = files;
    if (!(required instanceof DiskFile)) throw failure("EISDIR", files.path);
    return required.data;
  }),
);
replace(fs.promises, "rm", (files, options?: FileOptions) => files.later("remove", () => files.remove(options)));
const { fstatSync } = fs;
(fs as { fstatSync: FileCall }).fstatSync = (fd: number) => {
  const handle = handles.get(fd);
  return handle === undefined ? fstatSync(fd) : { ino: handle.entry.ino, dev: 1 };
};
// Without this, `import { open } from "node:fs/promises"` keeps Node's own.
syncBuiltinESMExports();
