// Maps files of the repository to paths on the site. The site has a page for each document, and one for each other file
// that a document links to.

import { posix } from "node:path";
import { PAGES } from "./pages.js";

const pageOf = new Map(PAGES.map((page) => [page.source, page]));

/**
 * Returns the folder of the site that shows a file.
 *
 * @param {string} file
 */
export const folderOf = (file) => pageOf.get(file)?.path ?? `source/${file}/`;

/**
 * Returns the document of a folder of the site; undefined for a page that shows a file as code: it has no links.
 *
 * @param {string} folder
 */
export const documentOf = (folder) => PAGES.find(({ path }) => path === folder)?.source;

/**
 * Returns the path of an image on the site.
 *
 * @param {string} file
 */
export const imageOf = (file) => `images/${posix.basename(file)}`;

/**
 * Returns true for a file that is not a document of the site, so that its page shows it as code.
 *
 * @param {string} file
 */
export const isShownAsCode = (file) => !pageOf.has(file);

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
