// Compresses the files of a built site once, so that its server never has to.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

const TEXT = new Set([".css", ".html", ".js", ".svg"]);
/** Smaller files fit into one packet as they are. */
const LEAST_BYTES = 1_000;

/**
 * Writes a `.gz` beside each text file of a folder.
 *
 * @param {string} folder
 */
export function precompress(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !TEXT.has(extname(file))) continue;
    const text = readFileSync(file);
    if (text.length >= LEAST_BYTES) writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
  }
}
