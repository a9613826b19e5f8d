import { constants } from "node:fs";
import { mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { MAX_SPEC_BYTES } from "@dataset-oracle/protocol/spec-hash";
import { bytesToHex, type Hex, hexToBytes, keccak256 } from "viem";
import { writeFileAtomically } from "../write-file-atomically.js";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Reads a file. If it is a symbolic link, it is not followed, so that nothing outside the file's folder is read.
 *
 * @returns Null when it is not a regular file, or has more than `maxBytes`.
 * @throws When it does not exist or cannot be read.
 */
async function readRegularFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(nullIfLink);
  if (file === null) return null;
  try {
    const stats = await file.stat();
    return stats.isFile() && stats.size <= maxBytes ? await file.readFile() : null;
  } finally {
    await file.close();
  }
}

function nullIfLink(error: NodeJS.ErrnoException): null {
  if (error.code === "ELOOP") return null;
  throw error;
}

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
    await writeFileAtomically(this.#path(chainId, specHash), hexToBytes(spec));
  }

  #path(chainId: number, specHash: Hex): string {
    return join(this.folder, String(chainId), `${specHash.slice(2)}.json`);
  }
}
