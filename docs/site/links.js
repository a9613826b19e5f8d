// Maps links of documents to pages of the site. Documents link to files, so that they read well on a code host; the site
// has a page for each document, and one for each other file that a document links to.

import { posix } from "node:path";
import { PAGES } from "./pages.js";

const pageOf = new Map(PAGES.map((page) => [page.source, page]));

/** Returns true for a link that leaves the repository. */
export const isExternal = (href) => /^[a-z][a-z\d+.-]*:/i.test(href);

/**
 * Resolves a link of a document.
 *
 * @param {string} source The document, from the repository's root.
 * @param {string} href The link as written there.
 * @returns {{ file: string, anchor: string }} The file, from the repository's root, and the anchor, with `#`, or "".
 */
export function resolveLink(source, href) {
  const [, path, anchor] = /^([^#]*)(#.*)?$/.exec(href);
  const file = path === "" ? source : posix.join(posix.dirname(source), decodeURI(path));
  return { file: file.replace(/\/$/, ""), anchor: anchor ?? "" };
}

/** Returns the folder of the site that shows a file. */
export const folderOf = (file) => pageOf.get(file)?.path ?? `source/${file}/`;

/** Returns the file, from the repository's root, that a folder of the site shows. */
export const sourceOf = (folder) => PAGES.find(({ path }) => path === folder)?.source ?? folder.slice("source/".length);

/** Returns the path of an image on the site. */
export const imageOf = (file) => `images/${posix.basename(file)}`;

/** Returns true for a file that is not a document of the site, and is shown as source. */
export const isSource = (file) => !pageOf.has(file);

/**
 * Returns a link from one folder of the site to another that works at any base path.
 *
 * @param {string} from
 * @param {string} to
 */
export function relative(from, to) {
  const path = posix.relative(`/${from}`, `/${to}`);
  return path === "" ? "./" : to.endsWith("/") || to === "" ? `${path}/` : path;
}
