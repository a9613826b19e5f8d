import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bytesToHex, type Hex, hexToBytes, keccak256 } from "viem";

/** The maximum number of files for one network, because anyone can publish specs. */
const MAX_FILES = 10_000;

/** Stores published specs on disk, by network and hash. A file is used only when its content has the hash. */
export class PublishedSpecStore {
  /** The number of files, by network. */
  readonly #counts = new Map<number, number>();

  constructor(private readonly folder: string) {}

  /** Reads a spec; null when there is no such file, or its content has another hash. */
  async read(chainId: number, specHash: Hex): Promise<Hex | null> {
    const bytes = await readFile(this.#path(chainId, specHash)).catch(() => null);
    if (bytes === null) return null;
    const spec = bytesToHex(bytes);
    return keccak256(spec) === specHash ? spec : null;
  }

  /** Stores a spec, unless there are too many. */
  async write(chainId: number, specHash: Hex, spec: Hex): Promise<void> {
    const folder = join(this.folder, String(chainId));
    await mkdir(folder, { recursive: true });
    const count = this.#counts.get(chainId) ?? (await readdir(folder)).length;
    if (count >= MAX_FILES) return;
    this.#counts.set(chainId, count + 1);
    const path = this.#path(chainId, specHash);
    try {
      await writeFile(path, hexToBytes(spec));
    } catch (error) {
      // Otherwise every attempt on a full disk would leave a file.
      await rm(path, { force: true });
      throw error;
    }
  }

  #path(chainId: number, specHash: Hex): string {
    return join(this.folder, String(chainId), `${specHash.slice(2)}.json`);
  }
}
