// Documents link to files, so that the links also work on a code host; this resolves them.

import { posix } from "node:path";

/**
 * Returns true for a link that leaves the repository.
 *
 * @type {typeof import("./linked-file.js").isExternal}
 */
export const isExternal = (href) => /^[a-z][a-z\d+.-]*:/i.test(href);

/**
 * Finds the file to which a link of a document leads.
 *
 * @param {string} document Its file, from the repository's root.
 * @param {string} href The link as written there.
 * @returns The file, from the repository's root, and the anchor, with `#`, or "".
 */
export function linkedFile(document, href) {
  const [, path = "", anchor] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  const file = path === "" ? document : posix.join(posix.dirname(document), decodeURI(path));
  return { file: file.replace(/\/$/, ""), anchor: anchor ?? "" };
}
