/**
 * Makes a function that removes a URL from texts: services and proxies repeat it in their messages, as it is or decoded,
 * and it may hold a token.
 *
 * @param secrets Words that are removed, too.
 */
export function urlRemover(url: string, secrets: readonly string[] = []): (text: string) => string {
  const { host, hostname, pathname, search } = new URL(url);
  const inUrl = [host, hostname, ...`${pathname}${search}`.split(/[/?&=]/)].flatMap((part) => [part, decoded(part)]);
  // A part of three characters or fewer is no token, and can occur in any word.
  const parts = [...inUrl, ...secrets].filter(({ length }) => length > 3);
  const longestFirst = parts.toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => text;
  const pattern = new RegExp(longestFirst.map((part) => part.replace(/\W/g, "\\$&")).join("|"), "gi");
  return (text) => text.replace(pattern, "...");
}

/** Decodes a part of a URL; a "%" that encodes nothing stands for itself. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
