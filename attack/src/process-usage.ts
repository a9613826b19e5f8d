// Reads the open files and the memory of a process from /proc. On a system without /proc, both are 0.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Returns how many files below a folder a process has open. */
export function countOpenFiles(pid: number, folder: string): number {
  return orZero(() => {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
    return links.filter((path) => path.startsWith(folder)).length;
  });
}

/** Returns a process's resident memory, in bytes. */
export function memoryOf(pid: number): number {
  return orZero(() => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024);
}

function linkOf(path: string) {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed meanwhile.
    return "";
  }
}

function orZero(read: () => number) {
  try {
    return read();
  } catch {
    return 0;
  }
}
