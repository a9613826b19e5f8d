import { rename, writeFile } from "node:fs/promises";

/** Replaces a file's content as a whole, or not at all, even if the process is killed. */
export async function writeFileAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, path);
}
