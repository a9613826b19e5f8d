/** So many characters of a secret in a row are a leak: by chance they are nowhere. */
const WINDOW = 12;

/**
 * Where secrets show in what a program has written, whole or in part, and in whatever form: letters of either case, hex,
 * base64, percent-encoded.
 *
 * @param secrets By name: each of at least 12 characters, made by chance.
 * @returns The names of those that show, each with a little of the text around; none when all is well.
 */
export function findLeaks(text: string, secrets: Readonly<Record<string, string>>): string[] {
  const searched = text.toLowerCase();
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const at = [...partsOf(secret)].map((part) => searched.indexOf(part)).find((found) => found >= 0);
    return at === undefined ? [] : [`${name}: ...${text.slice(Math.max(0, at - 60), at + 60)}...`];
  });
}

/** Every run of characters that would be a leak, in small letters. */
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
    ...bytes.flatMap((raw) => [0, 1, 2].map((offset) => inBase64(raw, offset))),
  ];
}

/** What bytes look like in base64 wherever they stand in it: without the ends, which depend on what is beside them. */
function inBase64(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return encoded.slice(offset === 0 ? 0 : 4, -4);
}
