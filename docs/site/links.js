// Where a link of a document leads on the site. The documents link to files, so that they read well on a code host; the
// site has a page for each document, and one for each file that a document links to.

import { posix } from "node:path";
import { PAGES } from "./pages.js";

const pageOf = new Map(PAGES.map((page) => [page.source, page]));

/** Whether a link leaves the repository. */
export const isExternal = (href) => /^[a-z][a-z\d+.-]*:/i.test(href);

/**
 * What a link of a document names.
 *
 * @param {string} source The document, from the repository's root.
 * @param {string} href The link, as it is written there.
 * @returns {{ file: string, anchor: string }} The file, from the repository's root, and the anchor, with `#`, or "".
 */
export function target(source, href) {
  const [, path, anchor] = /^([^#]*)(#.*)?$/.exec(href);
  const file = path === "" ? source : posix.join(posix.dirname(source), decodeURI(path));
  return { file: file.replace(/\/$/, ""), anchor: anchor ?? "" };
}

/** The folder of the site that shows a file: its own page, or the one with its text. */
export const folderOf = (file) => pageOf.get(file)?.path ?? `source/${file}/`;

/** The document, from the repository's root, that a folder of the site shows. */
export const sourceOf = (folder) => PAGES.find(({ path }) => path === folder)?.source ?? folder.slice("source/".length);

/** Where the site has an image. */
export const imageOf = (file) => `images/${posix.basename(file)}`;

/** Whether a file is shown as it is, for lack of a page. */
export const isSource = (file) => !pageOf.has(file);

/**
 * A link from one folder of the site to another, which holds wherever the site is.
 *
 * @param {string} from
 * @param {string} to
 */
export function relative(from, to) {
  const path = posix.relative(`/${from}`, `/${to}`);
  return path === "" ? "./" : to.endsWith("/") || to === "" ? `${path}/` : path;
}
