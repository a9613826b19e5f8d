import { constants } from "node:fs";
import { open } from "node:fs/promises";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Reads a file. If it is a symbolic link, it is not followed, so that nothing outside the file's folder is read.
 *
 * @returns Null when it is not a regular file, or has more than `maxBytes`.
 * @throws When it does not exist or cannot be read.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
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
