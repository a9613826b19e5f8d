/** This many consecutive characters of a secret count as a leak: they do not occur by chance. */
const WINDOW = 12;

/**
 * Finds secrets in the output of a program, in whole or in part and in any form: upper or lower case, hex, base64,
 * percent-encoded.
 *
 * @param secrets Random secrets of at least 12 characters, by name.
 * @returns The names of the secrets that leaked, each with some of the surrounding text.
 */
export function findLeakedSecrets(text: string, secrets: Readonly<Record<string, string>>): string[] {
  const searched = text.toLowerCase();
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const at = [...partsOf(secret)].map((part) => searched.indexOf(part)).find((found) => found >= 0);
    return at === undefined ? [] : [`${name}: ...${text.slice(Math.max(0, at - 60), at + 60)}...`];
  });
}

/** Returns every sequence of characters that would be a leak, in lower case. */
function partsOf(secret: string): Set<string> {
  const parts = new Set<string>();
  for (const form of formsOf(secret).map((form) => form.toLowerCase())) {
    for (let at = 0; at + WINDOW <= form.length; at++) parts.add(form.slice(at, at + WINDOW));
  }
  return parts;
}

function formsOf(secret: string): string[] {
  const digits = secret.replace(/^0x/, "");
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(digits);
  const bytes = [Buffer.from(secret), ...(isHex ? [Buffer.from(digits, "hex")] : [])];
  return [
    digits,
    decodeURIComponent(secret),
    encodeURIComponent(secret),
    Buffer.from(secret).toString("hex"),
    ...bytes.flatMap((raw) => [0, 1, 2].flatMap((offset) => inBase64(raw, offset))),
  ];
}

/** Encodes bytes in both kinds of base64 at an offset, without the ends, which depend on the neighbouring bytes. */
function inBase64(bytes: Buffer, offset: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .slice(offset === 0 ? 0 : 4, -4);
  return [encoded, encoded.replaceAll("+", "-").replaceAll("/", "_")];
}
