/**
 * Escapes control and format characters except newlines and tabs, so that text from outside cannot control the
 * terminal, and cuts long text.
 */
export function printable(text: string): string {
  const short = text.length > 2_000 ? `${text.slice(0, 2_000)} ... (${text.length} characters)` : text;
  return short.replace(/\p{Cc}|\p{Cf}/gu, (character) =>
    character === "\n" || character === "\t" ? character : escaped(character),
  );
}

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
