import { constants } from "node:fs";
import { rename, writeFile } from "node:fs/promises";

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/**
 * Replaces a file's content as a whole, or not at all, even if the process is killed. A symbolic link is not followed,
 * so that nothing outside the file's folder is overwritten.
 */
export async function writeFileAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, content, { flag: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW });
  await rename(temporary, path);
}
