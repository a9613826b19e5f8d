import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Addresses } from "./devnet-process.js";

/** A fenced block of a document. */
interface Block {
  readonly language: string;
  readonly text: string;
  /** The comment above the block: a file name, `prints`, or `not run: ` and the reason. */
  readonly note: string;
}

/** The blocks of a document, in their order. */
export function blocksOf(file: string): Block[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:^ *<!-- (.+?) -->\n)?^ *```(\w*)\n([\s\S]*?)^ *```$/gm)].map(
    ([, note = "", language = "", inner = ""]) => ({ language, text: inner, note }),
  );
}

/** Returns a text with the ports of a devnet. Documents speak of the default ports; the tests use free ones. */
export const withPortsOf = ({ chain, operator }: Addresses, text: string) =>
  text
    .replaceAll("http://127.0.0.1:8080", operator.url)
    .replaceAll("http://127.0.0.1:8545", chain)
    .replaceAll(".devnet/8545/", `.devnet/${new URL(chain).port}/`);

/**
 * Returns a pattern for printed text: numbers and hex digits may be others, `…` stands for anything, and white space
 * does not count.
 */
export function outputPattern(printed: string): RegExp {
  const parts = printed.replace(/\s+/g, "").split(/(0x[0-9a-fA-F]{6,}…?|\d+(?:\.\d+)?(?:e\d+)?|…)/);
  const source = parts.map((part, i) => {
    if (i % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (part === "…") return "[\\s\\S]*?";
    return part.startsWith("0x") ? "0x[0-9a-fA-F]+" : "\\d+(?:\\.\\d+)?(?:e\\d+)?";
  });
  return new RegExp(`^${source.join("")}$`);
}
