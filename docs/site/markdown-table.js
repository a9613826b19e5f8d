// Writes Markdown tables for generated pages.

/** Escapes the text of a cell. */
const cell = (text) =>
  String(text ?? "")
    .replaceAll("|", "\\|")
    .replace(/\s+/g, " ");

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");
