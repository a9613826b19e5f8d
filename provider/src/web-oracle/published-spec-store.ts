import { constants } from "node:fs";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MAX_SPEC_BYTES } from "@dataset-oracle/protocol/spec-hash";
import { bytesToHex, type Hex, hexToBytes, keccak256 } from "viem";
import { readRegularFile } from "../read-regular-file.js";

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/** The maximum number of files for one network, because anyone can publish specs. */
const MAX_FILES = 10_000;

/** Stores published specs on disk, by network and hash. A file is used only when its content has the hash. */
export class PublishedSpecStore {
  /** The number of files, by network. */
  readonly #counts = new Map<number, number>();

  constructor(private readonly folder: string) {}

  /** Reads a spec; null when there is no such file, or its content has another hash. */
  async read(chainId: number, specHash: Hex): Promise<Hex | null> {
    try {
      const bytes = await readRegularFile(this.#path(chainId, specHash), MAX_SPEC_BYTES);
      if (bytes === null) return null;
      const spec = bytesToHex(bytes);
      return keccak256(spec) === specHash ? spec : null;
    } catch {
      return null;
    }
  }

  /** Stores a spec, unless there are too many. */
  async write(chainId: number, specHash: Hex, spec: Hex): Promise<void> {
    const folder = join(this.folder, String(chainId));
    await mkdir(folder, { recursive: true });
    const count = this.#counts.get(chainId) ?? (await readdir(folder)).length;
    if (count >= MAX_FILES) return;
    this.#counts.set(chainId, count + 1);
    const path = this.#path(chainId, specHash);
    // The rename makes the file whole or absent, even if the process is killed.
    const temporary = `${path}.${process.pid}.tmp`;
    await writeFile(temporary, hexToBytes(spec), { flag: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW });
    await rename(temporary, path);
  }

  #path(chainId: number, specHash: Hex): string {
    return join(this.folder, String(chainId), `${specHash.slice(2)}.json`);
  }
}
