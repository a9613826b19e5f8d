import type { Random } from "../random.js";

let inodes = 0;

/** A file: what processes see of it, and what is left of it when the power fails. */
export class DiskFile {
  readonly ino = ++inodes;
  data = "";
  #synced = "";

  sync(): void {
    this.#synced = this.data;
  }

  /** Of what was not synced, all, nothing or a part may have reached the disk. */
  losePower(random: Random): void {
    const written = this.data.slice(0, random.below(this.data.length + 1));
    this.data = random.pick([this.#synced, this.data, this.data === this.#synced ? this.data : written]);
    this.sync();
  }
}

/** A folder. Each of its changes is on disk for certain only once the folder was synced. */
export class DiskFolder {
  readonly ino = ++inodes;
  readonly entries = new Map<string, DiskFile | DiskFolder>();
  #synced = new Map<string, DiskFile | DiskFolder>();
  #unsynced: (readonly [name: string, entry: DiskFile | DiskFolder | null])[] = [];

  /** @param entry Null to remove what has the name. */
  set(name: string, entry: DiskFile | DiskFolder | null): void {
    if (entry === null) this.entries.delete(name);
    else this.entries.set(name, entry);
    this.#unsynced.push([name, entry]);
  }

  sync(): void {
    this.#synced = new Map(this.entries);
    this.#unsynced = [];
  }

  /** Any of the changes since the last sync may have reached the disk, in whatever order. */
  losePower(random: Random): void {
    const kept = random.pick([0, 0.5, 1]);
    const left = new Map(this.#synced);
    for (const [name, entry] of this.#unsynced) {
      if (!random.chance(kept)) continue;
      if (entry === null) left.delete(name);
      else left.set(name, entry);
    }
    this.entries.clear();
    for (const [name, entry] of left) {
      entry.losePower(random);
      this.entries.set(name, entry);
    }
    this.sync();
  }
}

/** How a disk fails. */
export type DiskFailure = "is full" | "is read-only" | "does not sync";

/** What a machine stores. It outlives the machine's processes, and what was synced outlives a loss of power. */
export class Disk {
  readonly root = new DiskFolder();
  failure: DiskFailure | null = null;
  isSlow = false;

  /** The files of a folder in the root, by name; null if there is no such folder. */
  copyOf(folder: string): ReadonlyMap<string, string> | null {
    const found = this.root.entries.get(folder);
    if (!(found instanceof DiskFolder)) return null;
    const files = [...found.entries].flatMap(([name, entry]) =>
      entry instanceof DiskFile ? [[name, entry.data]] : [],
    );
    return new Map(files as [string, string][]);
  }

  /** Has a folder in the root, with new files, in place of what was there. @param files Null for no folder at all. */
  replace(folder: string, files: ReadonlyMap<string, string> | null): void {
    const restored = files && new DiskFolder();
    for (const [name, data] of files ?? []) {
      const file = new DiskFile();
      file.data = data;
      file.sync();
      restored?.set(name, file);
    }
    restored?.sync();
    this.root.set(folder, restored);
    this.root.sync();
  }
}
