// How a document becomes HTML: anchors as code hosts make them, links that hold on the site, coloured code, tables that
// scroll by themselves on a phone.

import MarkdownIt from "markdown-it";
import anchor from "markdown-it-anchor";
import { highlight } from "./highlight.js";
import { folderOf, imageOf, isExternal, relative, target } from "./links.js";

/** The anchor that code hosts give a heading. */
export const slug = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");

export const markdown = new MarkdownIt({ html: true, highlight })
  .use(anchor, {
    slugify: slug,
    level: [2, 3, 4],
    tabIndex: false,
    permalink: anchor.permalink.headerLink({ safariReaderFix: true }),
  })
  .use(siteLinks)
  .use(scrollingTables);

/** Links to files become links to pages. `env.source` names the document, `env.path` its folder on the site. */
function siteLinks(md) {
  md.core.ruler.push("site_links", ({ tokens, env }) => {
    if (env.source === undefined) return;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === "image") {
        token.attrSet("src", relative(env.path, imageOf(target(env.source, token.attrGet("src")).file)));
      }
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (href === null || isExternal(href) || href.startsWith("#")) continue;
      const { file, anchor: hash } = target(env.source, href);
      token.attrSet("href", relative(env.path, folderOf(file)) + hash);
    }
  });
}

function scrollingTables({ renderer: { rules } }) {
  // Whoever has only a keyboard scrolls what has the focus.
  rules.table_open = () => '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>\n';
  rules.table_close = () => "</table></div>\n";
}

/**
 * The links of a document, as they are written.
 *
 * @param {string} text
 * @returns {string[]}
 */
export const linksOf = (text) =>
  markdown
    .parse(text, {})
    .flatMap(({ children }) => children ?? [])
    .flatMap((token) => (token.type === "link_open" ? [token.attrGet("href")] : []));

/**
 * The images of a document, as they are written.
 *
 * @param {string} text
 * @returns {string[]}
 */
export const imagesOf = (text) =>
  markdown
    .parse(text, {})
    .flatMap(({ children }) => children ?? [])
    .flatMap((token) => (token.type === "image" ? [token.attrGet("src")] : []));

/**
 * The text of a document's first heading.
 *
 * @param {string} text
 */
export const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1].replaceAll("`", "") ?? "";

/**
 * The anchors of a document's headings.
 *
 * @param {string} text
 * @returns {string[]}
 */
export const anchorsOf = (text) =>
  markdown.parse(text, {}).flatMap((token) => (token.type === "heading_open" ? (token.attrGet("id") ?? []) : []));
