import { dirname } from "node:path";

/** The repository's root folder. */
export const ROOT = dirname(import.meta.dirname);
