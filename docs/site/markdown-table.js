// Writes Markdown tables for generated pages.

/**
 * Escapes the text of a cell.
 *
 * @param {unknown} text
 */
const cell = (text) =>
  String(text ?? "")
    .replaceAll("|", "\\|")
    .replace(/\s+/g, " ");

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly unknown[])[]} rows
 */
export const table = (head, rows) => {
  const [first, ...others] = [head, ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`);
  return [first, `|${head.map(() => "---|").join("")}`, ...others].join("\n");
};
