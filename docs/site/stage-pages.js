// Collects the Markdown of every page in one folder, as VitePress expects it: the documents, the generated references,
// and a page for each file that one of them links to.

import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { isExternal, linkedFile } from "./linked-file.js";
import { imagesOf, linksOf } from "./links-images-and-anchors.js";
import { PAGES } from "./pages.js";
import { folderOf, imageOf, isShownAsCode } from "./site-urls.js";

/** @type {Record<string, string>} */
const LANGUAGES = {
  sol: "solidity",
  ts: "typescript",
  js: "javascript",
  json: "json",
  toml: "toml",
  yml: "yaml",
  yaml: "yaml",
  service: "ini",
};

/** @param {string} file */
const read = (file) => readFileSync(join(ROOT, file), "utf8");

/**
 * @param {string} folder Its content is replaced.
 */
export async function stagePages(folder) {
  rmSync(folder, { recursive: true, force: true });
  /**
   * @param {string} path
   * @param {string} text
   */
  const add = (path, text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  /**
   * @param {string} file
   * @param {string} path
   */
  const copy = (file, path) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(ROOT, file), join(folder, path));
  };

  const texts = await Promise.all(
    PAGES.map(async (page) => ({ ...page, text: await (page.generate?.() ?? read(page.source)) })),
  );
  for (const { path, outline, text } of texts) {
    const settings = path === "" ? "titleTemplate: false" : outline ? `outline: ${outline}` : "";
    add(`${path}index.md`, `---\n${settings}\n---\n\n${text}`);
  }
  const linked = new Set(texts.flatMap(({ source, text }) => filesLinked(source, text)));
  for (const file of linked) add(`${folderOf(file)}index.md`, codePage(file));
  for (const { source, text } of texts) {
    for (const { file } of imagesOf(text).map((src) => linkedFile(source, src))) copy(file, `public/${imageOf(file)}`);
  }
  copy("docs/site/icon.svg", "public/icon.svg");
}

/**
 * Returns the files that a document links to and that are not documents of the site.
 *
 * @param {string} source
 * @param {string} text
 */
const filesLinked = (source, text) =>
  linksOf(text)
    .filter((href) => !isExternal(href))
    .map((href) => linkedFile(source, href).file)
    .filter((file) => isShownAsCode(file) && statSync(join(ROOT, file)).isFile());

/**
 * Returns a page that shows a file. Search leaves it out: the references describe what the files contain.
 *
 * @param {string} file
 */
function codePage(file) {
  const language = LANGUAGES[file.split(".").at(-1) ?? ""] ?? "text";
  const settings = "search: false\naside: false\nprev: false\nnext: false";
  return `---\n${settings}\n---\n\n# ${file}\n\n\`\`\`\`${language}\n${read(file)}\n\`\`\`\`\n`;
}
