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
