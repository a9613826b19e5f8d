import { createHash } from "node:crypto";

/** Returns the SHA-256 of a text's UTF-8, in hex. */
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
